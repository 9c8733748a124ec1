import type * as z from 'zod'

/** The values of a schema: readonly, optional members absent, never `undefined`; a hand-written type stays as it is. */
export type ValueOf<S> =
  S extends z.ZodObject<infer Shape>
    ? { readonly [K in keyof z.output<S>]: ValueOf<Shape[K & keyof Shape]> }
    : S extends z.ZodArray<infer Item>
      ? readonly ValueOf<Item>[]
      : S extends z.ZodOptional<infer Inner>
        ? ValueOf<Inner>
        : S extends z.ZodUnion<infer Options>
          ? ValueOf<Options[number]>
          : z.output<S>

/** A schema that checks less than its type says, which is written by hand. */
export const of = <T>(schema: z.ZodType): z.ZodType<T> => schema as z.ZodType<T>
