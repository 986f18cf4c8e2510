import { BUILD, type Config } from "../config/index.ts";
import { MODEL_ENDPOINTS } from "../routes/models/index.ts";
import type { PipelineDeps } from "../server/index.ts";

/** Returns the settings that the pipeline reads for each request. */
export function settingsOf(config: Config): ReturnType<PipelineDeps["settings"]> {
	return {
		build: BUILD,
		corsOrigins: config.server.corsOrigins,
		upload: { silenceMs: config.server.uploadSilenceMs, totalMs: config.server.uploadTotalMs },
		listRequestsPerMinute: config.limits.listRequestsPerMinute,
		publicEndpoints: new Set(config.models.public ? MODEL_ENDPOINTS : []),
		logRequests: config.log.requests,
	};
}

/** Returns the paths of settings that differ and that a running server cannot change. */
export function restartSettings(before: Config, after: Config): string[] {
	const fixed = [
		"server.host",
		"server.port",
		"server.maxBodyBytesInFlight",
		"server.maxRunning",
		"server.drainMs",
		"data",
		"store",
		"node",
		"journal",
		"staking",
		"siwx.rpcUrl",
		"traces",
		"siwx.timeoutMs",
		"x402",
		"chat.embedded",
		"images.processes",
		"images.queue",
		"images.pictureMs",
		"images.maxMemoryMb",
		"documents.processes",
		"documents.fileMs",
		"documents.maxMemoryMb",
		"speech.embedded",
		"embeddings.embedded",
	];
	return fixed.filter((path) => textAt(before, path) !== textAt(after, path));
}

/** Facilitators are left out, because a running server can replace them everywhere. */
function textAt(config: Config, path: string): string | undefined {
	return JSON.stringify(valueAt(config, path), (key, value) => (key === "facilitator" ? undefined : value));
}

function valueAt(config: Config, path: string): unknown {
	return path.split(".").reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], config);
}
