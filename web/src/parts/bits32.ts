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

// Three different places: a hash that names one again is passed over.
export function placesOf(word: string): number[] {
  const places = new Set<number>();
  for (let seed = 0; places.size < HASHES; ++seed) places.add(hash(word, seed) % SIZE);
  return [...places];
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
  // Whether an added word has the very places of another.
  hasSameBitsAs(word: string): boolean {
    const places = new Set(placesOf(word));
    return this.words.some((added) => placesOf(added).every((place) => places.has(place)));
  }
  // The added words that turned on the bits of another.
  causesOf(word: string): string[] {
    const places = new Set(placesOf(word));
    return this.words.filter((added) => placesOf(added).some((place) => places.has(place)));
  }
}
