import { BUILD, type Config } from "../../config/index.ts";
import { ApiError } from "../../errors/index.ts";
import { type App, errorResponse, type Listening, listen, type PipelineSettings, withRequestId } from "../../server/index.ts";
import type { Log } from "../../telemetry/log.ts";

/** Listens before the store is open: answers probes, and refuses other requests because the start is in progress. */
export class StartupServer {
	readonly #config: Config;
	readonly #sharesPort: boolean;
	readonly #log: Log;
	readonly #settings: PipelineSettings;
	#app: App;

	/** @param sharesPort true for one of several workers */
	constructor(config: Config, sharesPort: boolean, log: Log) {
		this.#sharesPort = sharesPort;
		this.#config = config;
		this.#log = log;
		this.#settings = {
			build: BUILD,
			corsOrigins: config.server.corsOrigins,
			upload: { silenceMs: config.server.uploadSilenceMs, totalMs: config.server.uploadTotalMs },
			listRequestsPerMinute: config.limits.listRequestsPerMinute,
			publicEndpoints: new Set(),
		};
		this.#app = {
			fetch: (request) => this.#starting(request),
			refuse: (request, error) => errorResponse(error, "openai", request, { settings: () => this.#settings }),
			notFound: (request) => this.#starting(request),
		};
	}

	/**
	 * Opens the port.
	 * @throws {ListenError}
	 */
	open(): Listening {
		const app: App = {
			fetch: (request, connection) => this.#app.fetch(request, connection),
			refuse: (request, error) => this.#app.refuse(request, error),
			notFound: (request) => this.#app.notFound(request),
		};
		const settings = { ...this.#config.server, sharesPort: this.#sharesPort };
		return listen(app, settings, () => this.#config.server, this.#log);
	}

	/** Sends requests to the gateway from now on. */
	serve(app: App): void {
		this.#app = app;
	}

	#starting(request: Request): Response {
		const { pathname } = new URL(request.url);
		if (pathname === "/healthz") return withRequestId(new Response("ok\n"));
		if (pathname === "/readyz") return withRequestId(new Response("not ready: the books are being opened\n", { status: 503 }));
		const error = new ApiError("SERVICE_UNAVAILABLE", {
			message: "The service is starting; try again in a moment",
			retryAfterSeconds: 1,
		});
		return errorResponse(error, "openai", request, { settings: () => this.#settings });
	}
}
