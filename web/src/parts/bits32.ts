// A Bloom filter of 32 bits and three hashes, small enough to be looked at.
export const SIZE = 32;
export const HASHES = 3;

// FNV-1a, mixed once more for each hash: any even hash would do.
function hash(text: string, seed: number): number {
  let value = 2166136261 ^ Math.imul(seed + 1, 0x9e3779b1);
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 16777619);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

// Three different places: an odd step never comes back to one before all 32 are seen.
export function placesOf(word: string): number[] {
  const first = hash(word, 0), step = hash(word, 1) | 1;
  return Array.from({ length: HASHES }, (_, i) => (first + i * step) % SIZE);
}

export class SmallFilter {
  readonly words: string[] = [];
  private readonly bits = new Array<boolean>(SIZE).fill(false);

  isOn(place: number): boolean {
    return this.bits[place] === true;
  }
  // The places that were on before.
  add(word: string): number[] {
    const before = placesOf(word).filter((place) => this.isOn(place));
    for (const place of placesOf(word)) this.bits[place] = true;
    if (!this.words.includes(word)) this.words.push(word);
    return before;
  }
  mayContain(word: string): boolean {
    return placesOf(word).every((place) => this.isOn(place));
  }
  ones(): number {
    return this.bits.filter(Boolean).length;
  }
  // The added words that turned on the bits of another.
  causesOf(word: string): string[] {
    const places = new Set(placesOf(word));
    return this.words.filter((added) => placesOf(added).some((place) => places.has(place)));
  }
}
