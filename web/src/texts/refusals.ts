// What the library refuses, in the language of the page. Its own words are English.
import { language } from "./index.ts";

const LAYOUT = "(blocked|blocked2|standard)";

// The sentences of src/plan/plan.cpp, and what they are in Chinese.
const CHINESE: readonly [RegExp, string][] = [
  [/^capacity is 0; .*/, "元素个数为 0；至少填 1"],
  [/^capacity (\d+) is above the limit of 10\^13$/, "元素个数 $1 超过上限 10^13"],
  [/^rate (\S+) is out of range; .*/, "误判率 $1 超出范围；请填 1e-15 到 0.5 之间的值"],
  [new RegExp(`^(\\d+) hashes are out of range; layout ${LAYOUT} takes 1 to (\\d+)$`),
    "$1 个哈希超出范围；布局 $2 可用 1 到 $3 个"],
  [/^(\d+) hashes are odd; layout blocked2 takes an even number$/, "$1 个哈希是奇数；布局 blocked2 需要偶数"],
  [/^(\d+) bits are above the limit of (2\^\d+) bits \(128 GiB\); split the set$/,
    "$1 位超过上限 $2 位（128 GiB）；请拆分集合"],
  [new RegExp(`^(\\d+) items at a rate of (\\S+) with layout ${LAYOUT} need more than (2\\^\\d+) bits \\(128 GiB\\); .*`),
    "布局 $3 下，$1 个元素、误判率 $2 需要超过 $4 位（128 GiB）；请拆分集合，或放宽误判率"],
  [/^(\d+) bits are too few for (\d+) items: .*/, "$1 位装不下 $2 个元素：每次查询都会回答“可能有”；请增加内存"],
  [/^not one item fits into (\d+) bits with (\d+) hashes at a rate of (\S+); .*/,
    "$1 位、$2 个哈希、误判率 $3 时连一个元素也装不下；请增加内存或放宽误判率"],
  [new RegExp(`^(\\d+) items, for which (\\d+) hashes are the best with layout ${LAYOUT}, need more than .*`),
    "布局 $3 下以 $2 个哈希为最优的 $1 个元素需要超过 128 GiB；请拆分集合，或减少哈希"],
  [new RegExp(`^a rate of (\\S+) and (\\d+) hash(?:es)? need over 10\\^4 bits per key with layout ${LAYOUT}; give more hashes$`),
    "误判率 $1 配 $2 个哈希，布局 $3 下每键需要超过 10^4 位；请增加哈希"],
  [new RegExp(`^a rate of (\\S+) and (\\d+) hash(?:es)? determine only the ratio, (\\S+) bits per key with layout ${LAYOUT}; .*`),
    "误判率 $1 与 $2 个哈希只能确定比例：布局 $4 下每键 $3 位；请再填元素个数或内存"],
  [/^(\d+) items in (\d+) bits give a rate of (\S+), not (\S+); .*/,
    "$1 个元素放进 $2 位，误判率为 $3，达不到 $4；请增加内存、减少元素或放宽误判率"],
  [/^0 bits hold nothing; .*/, "0 位装不下任何东西；至少填 512 位"],
  [/^too little is known; .*/, "条件不足；请在元素个数、误判率、内存和哈希个数中填两项"],
];

// One sentence of the library's, for the page.
export function refusalText(message: string): string {
  if (language() === "en") return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  for (const [sentence, chinese] of CHINESE)
    if (sentence.test(message)) return `${message.replace(sentence, chinese)}。`;
  return message;
}
