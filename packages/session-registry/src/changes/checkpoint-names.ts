/** Labels of the checkpoints of a session. */
export const LABELS = { start: 'start', turn: 'turn', rewound: 'rewound', reviewed: 'reviewed' } as const

/**
 * The checkpoints of a session's reviews have an owner of their own, so that none is between two turns: what a turn changed
 * is counted from the checkpoint before it.
 */
export const reviewsOf = (sessionId: string): string => `${sessionId}-reviews`
