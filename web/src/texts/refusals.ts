// What the library refuses, in the language of the page. Its own words are English.
import { language } from "./index.ts";

const LAYOUT = "(blocked|blocked2|standard)";
const N = "([\\d,]+)";
const FPR = "a false-positive rate of (\\S+?)";
const LIMIT = "(2\\^\\d+) (?:bits|counters) \\(128 GiB\\)";
const WINDOW = `a window of ${N} (second|insertion)s?`;
const UNITS: Record<string, string> = { second: "秒", insertion: "次添加", bit: "位", counter: "个计数器" };

// The sentences of src/plan, and what they are in Chinese.
const CHINESE: readonly (readonly [string, string])[] = [
  ["capacity is 0; .*", "元素个数为 0；至少填 1"],
  [`capacity ${N} is above the limit of 10\\^13 keys`, "元素个数 $1 超过上限 10^13"],
  [`${N} keys? in a window are above the limit of 10\\^13; .*`, "窗口内的元素个数 $1 超过上限 10^13"],
  [`${FPR} is out of range; give one from 1e-15 to 0\\.5`, "误判率 $1 超出范围；请填 1e-15 到 0.5 之间的值"],
  [`${FPR} is out of range for a filter that grows; give one from (\\S+) to 0\\.5`, "误判率 $1 对可扩展的过滤器超出范围；请填 $2 到 0.5 之间的值"],
  [`${FPR} is out of range; with ${N} slices? give one from (\\S+) to 0\\.5`, "误判率 $1 超出范围；$2 个分片时请填 $3 到 0.5 之间的值"],
  [`layout \\w+ takes 1 to (\\d+) hashes, not ${N}`, "$2 个哈希超出范围；可用 1 到 $1 个"],
  [`layout (\\w+) takes an even number of hashes, 2 to (\\d+), not ${N}`, "$3 个哈希不行；布局 $1 需要 2 到 $2 之间的偶数"],
  [`${N} (?:bit|counter)s? are above the limit of ${LIMIT}; split the set`, "$1 超过上限 $2（128 GiB）；请拆分集合"],
  [`${N} keys? at ${FPR} with layout ${LAYOUT} need more than ${LIMIT}; .*`,
    "布局 $3 下，$1 个元素、误判率 $2 需要超过 $4 位（128 GiB）；请拆分集合，或放宽误判率"],
  [`${N} keys? at ${FPR} with layout \\w+ need more than ${LIMIT}; .*`,
    "$1 个元素、误判率 $2 需要超过 $3 个计数器（128 GiB）；请拆分集合，或放宽误判率"],
  [`${N} keys? at ${FPR}(?: with ${N} hash(?:es)?)? need (?:more than )?${N} bits per key with counters of (\\d) bits, above the limit of ${N}; .*`,
    "$1 个元素、误判率 $2 用 $5 位计数器时每键需要 $4 位，超过上限 $6；请放宽误判率，或直接保存键的集合"],
  [`${N} (bit|counter)s? are too few for ${N} keys?: .*`, "$1 $2装不下 $3 个元素：每次查询都会回答“可能有”；请增加内存"],
  [`not one key fits into ${N} (bit|counter)s? with ${N} hash(?:es)? at ${FPR}; .*`,
    "$1 $2、$3 个哈希、误判率 $4 时连一个元素也装不下；请增加内存或放宽误判率"],
  [`${N} hash(?:es)? (?:is|are) the best for ${N} keys? with layout (\\w+) only above .*`,
    "$1 个哈希要到 128 GiB 以上才是 $2 个元素的最优值；请减少哈希或拆分集合"],
  [`${FPR} and ${N} hash(?:es)? need over 10\\^4 bits per key with layout (\\w+); give more hashes`,
    "误判率 $1 配 $2 个哈希，每键需要超过 10^4 位；请增加哈希"],
  [`${FPR} and ${N} hash(?:es)? determine only the ratio, (\\S+) bits per key with layout \\w+; .*`,
    "误判率 $1 与 $2 个哈希只能确定比例：每键 $3 位；请再填元素个数或内存"],
  [`${N} keys? in ${N} (bit|counter)s? give ${FPR}, not (\\S+); .*`,
    "$1 个元素放进 $2 $3，误判率为 $4，达不到 $5；请增加内存、减少元素或放宽误判率"],
  [`items ${N} is above the limit of a frozen filter, 2\\^35 keys`, "元素个数 $1 超过冻结过滤器的上限 2^35"],
  ["delta is 0; say how many keys may come before the filter is built again", "增量为 0；请填重建之前可添加的键数"],
  ["false-positive rate (\\S+) is not between 1\\.1e-09 and 0\\.5, .*", "误判率 $1 超出范围；有增量时请填 1.1e-09 到 0.5 之间的值"],
  ["false-positive rate (\\S+) is not between 1e-09 and 0\\.5, .*", "误判率 $1 超出范围；请填 1e-09 到 0.5 之间的值"],
  ["items is missing: how many different keys there are", "请填元素个数"],
  ["0 bits hold nothing; .*", "0 位装不下任何东西；至少填 512 位"],
  ["give two of .*", "请在元素个数、误判率、内存和哈希个数中填两项"],
  [`growth ${N} is out of range; .*`, "扩展倍数 $1 超出范围；请填 1 到 1000"],
  ["items is missing: how many different keys to expect at first", "请填起初的元素个数"],
  ["items is missing: .*", "请填窗口内不同元素的个数"],
  ["false-positive rate is missing: .*", "请填误判率"],
  ["window is missing: .*", "请填窗口：一个键要记住多久"],
  [`${N} slices? are out of range; give 1 to 64`, "$1 个分片超出范围；请填 1 到 64"],
  [`${WINDOW} cannot be cut into ${N} slices?; .*`, "$1 $2的窗口分不成 $3 片；请加长窗口或减少分片"],
  [`${WINDOW} is above the limit of .*`, "$1 $2的窗口超过上限 2^64 - 65；请缩短"],
  [`capacity ${N} is more than ${WINDOW} can hold; .*`, "元素个数 $1 超过了 $2 $3的窗口；请至多填这么多"],
  [`${N} slices? of ${N} bits? are above the limit of .*`, "$1 片各 $2 位，合计超过上限 2^40 位（128 GiB）；请拆分集合，或放宽误判率"],
];

// One sentence of the library's, for the page.
export function refusalText(message: string): string {
  if (language() === "en") return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  for (const [sentence, chinese] of CHINESE) {
    const whole = new RegExp(`^${sentence}$`);
    if (whole.test(message)) return `${message.replace(whole, chinese).replace(/second|insertion|bit|counter/, (unit) => UNITS[unit] ?? unit)}。`;
  }
  return message;
}
