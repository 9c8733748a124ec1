import { computed, signal } from '@preact/signals'
import { addressOf, type Place, placeAt } from './place.js'

const hash = signal(location.hash)
addEventListener('hashchange', () => (hash.value = location.hash))

/** Where the person is. An unknown address is the first place. */
export const place = computed<Place>(() => placeAt(hash.value))

export function goTo(to: Place): void {
  location.hash = addressOf(to)
}
