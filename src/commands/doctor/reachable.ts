import type { Config } from "../../config/index.ts";
import { type Finding, fault, ok } from "../../telemetry/finding.ts";

const PATIENCE_MS = 3_000;

/**
 * Checks the configured servers other than models and chains. Any answer is enough, because a real request would have effects.
 */
export async function checkAddresses({ web, traces, alerts }: Config): Promise<Finding[]> {
	const addresses = [
		["searches", "web.search.searxng.url", web.search.searxng?.url],
		["traces", "traces.url", traces.url],
		["alerts", "alerts.url", alerts.url],
	] as const;
	const findings = addresses.map(async ([name, setting, url]): Promise<Finding[]> => {
		if (url === undefined) return [];
		const { origin } = new URL(url);
		if (await answers(origin)) return [ok(name, `${origin} answers`)];
		return [fault(name, `no answer from ${origin}`, `start that server, or set ${setting} to its address`)];
	});
	return (await Promise.all(findings)).flat();
}

async function answers(origin: string): Promise<boolean> {
	try {
		const response = await fetch(origin, { method: "HEAD", redirect: "manual", signal: AbortSignal.timeout(PATIENCE_MS) });
		await response.body?.cancel();
		return true;
	} catch {
		return false;
	}
}
