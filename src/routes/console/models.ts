import { shownUrl } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import { NAMED_WINDOW_SECONDS } from "../../telemetry/traffic.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { answer } from "./page.ts";
import { trafficView } from "./traffic-view.ts";
import type { Models, ProbeResult, Upstreams } from "./types.ts";

/** GET /models */
export async function models({ catalog, state }: ConsoleApiDeps): Promise<Answer> {
	const { traffic } = await state();
	return answer<Models>({
		models: catalog()
			.list("all")
			.map((model) => ({
				id: model.id,
				name: model.name,
				type: model.type,
				online: !model.offline,
				traits: model.traits,
				targets: model.targets.map(({ upstream, model: named, weight, order }) => ({ upstream, model: named, weight, order })),
				...trafficView(traffic.ofModel(model.id)),
			})),
		windowSeconds: NAMED_WINDOW_SECONDS,
	});
}

/** GET /upstreams */
export async function upstreams({ upstreams: pool, catalog, state }: ConsoleApiDeps): Promise<Answer> {
	const { traffic } = await state();
	const served = new Map<string, string[]>();
	for (const model of catalog().list("all"))
		for (const { upstream } of model.targets) served.set(upstream, [...(served.get(upstream) ?? []), model.id]);
	return answer<Upstreams>({
		upstreams: pool.snapshot().map(({ url, ...status }) => ({
			...status,
			url: url === null ? null : shownUrl(url, true),
			models: served.get(status.name) ?? [],
			...trafficView(traffic.ofUpstream(status.name)),
		})),
		windowSeconds: NAMED_WINDOW_SECONDS,
	});
}

/** POST /upstreams/{name}/probe */
export async function probe(name: string, { upstreams: pool, clock }: ConsoleApiDeps): Promise<Answer> {
	const startMs = clock.monotonicMs();
	const alive = await pool.ask(name);
	const status = pool.snapshot().find((each) => each.name === name);
	if (alive === null || status === undefined)
		throw new ApiError("NOT_FOUND", { message: "There is no such upstream, or it is the engine in this server" });
	return answer<ProbeResult>({ name, alive, tookMs: Math.round(clock.monotonicMs() - startMs), state: status.state });
}
