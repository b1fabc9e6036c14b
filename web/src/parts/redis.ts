// What the plan is in Redis: one key of a module, or so many strings.
import { byId, make } from "../base/dom.ts";
import * as format from "../base/format.ts";
import type { Case } from "../case.ts";
import { redisShards } from "../costs.ts";
import type { Plan } from "../planner.ts";
import { t } from "../texts/index.ts";

export function showRedis(found: Case): void {
  const { plan } = found;
  byId("redis-title").closest("section")?.toggleAttribute("hidden", !plan);
  if (!plan) return;
  byId("redis").replaceChildren(make("ul", { class: "redis" }, ...waysOf(plan).map((way) => make("li", {}, way))));
}

function waysOf(plan: Plan): string[] {
  const memory = format.bytes(plan.bytes);
  if (plan.kind === "counting" || plan.kind === "window")
    return [t("redis_own", { memory, option: plan.kind === "counting" ? "COUNTING" : "WINDOW" })];
  if (plan.kind === "frozen") return [t("redis_frozen", { memory })];
  if (plan.kind === "scalable") return [t("redis_scalable", { memory })];
  const bits = 8 * plan.bytes, shards = redisShards(bits);
  return [
    t("redis_module", { memory }),
    shards === 1
      ? t("redis_strings_one", { share: format.rate(Math.max(1e-5, Number((bits / 2 ** 32).toPrecision(2)))) })
      : t("redis_strings_many", {
          shards: format.whole(shards),
          more: format.whole(shards - 1),
          items: format.compact(Math.ceil(plan.items / shards)),
          memory: format.bytes(plan.bytes / shards),
        }),
  ];
}
