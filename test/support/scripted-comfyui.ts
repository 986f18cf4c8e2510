/** A ComfyUI server that does as it is told, written from its documentation (docs.comfy.org, "Server Routes") and server.py. */
export interface ComfyBehaviour {
	/** Questions after a job before it is done. Default 1. */
	readonly polls?: number;
	/** The node that fails. */
	readonly fails?: string;
	/** The kind of error by which a workflow is refused. */
	readonly refuses?: string;
	/** The id that jobs get, whatever was asked for. */
	readonly id?: string;
	/** Jobs are forgotten at once, as where the server starts anew. */
	readonly forgets?: boolean;
	/** Jobs stay where they are until they are stopped. */
	readonly stays?: "running" | "pending";
	/** By node, what the workflow stores. Default: one picture of node 9. */
	readonly stores?: Readonly<Record<string, readonly { filename: string; type: string }[]>>;
	readonly picture?: Uint8Array;
	/** The status of every answer. */
	readonly status?: number;
}

export interface ReceivedJob {
	readonly id: string;
	readonly workflow: Readonly<Record<string, { class_type: string; inputs: Record<string, unknown> }>>;
}

export interface ScriptedComfy {
	readonly url: string;
	readonly jobs: ReceivedJob[];
	/** Bytes of uploads by their names. */
	readonly uploads: Map<string, Uint8Array>;
	readonly stopped: { readonly how: "deleted" | "interrupted"; readonly id: string }[];
	readonly headers: Headers[];
	behave(behaviour: ComfyBehaviour): void;
	/** Resolves once a job was taken out or ended. */
	hasStopped(): Promise<void>;
	reset(): void;
	stop(): Promise<void>;
}

export function startScriptedComfy(picture: Uint8Array): ScriptedComfy {
	const jobs: ReceivedJob[] = [];
	const uploads = new Map<string, Uint8Array>();
	const stopped: { how: "deleted" | "interrupted"; id: string }[] = [];
	const headers: Headers[] = [];
	let asked = new Map<string, number>();
	let behaviour: ComfyBehaviour = {};
	let ended = Promise.withResolvers<void>();
	const isWaiting = (id: string) => {
		if (stopped.some((job) => job.id === id)) return false;
		return behaviour.stays !== undefined || (asked.get(id) ?? 0) <= (behaviour.polls ?? 1);
	};

	const upload = async (request: Request): Promise<Response> => {
		const form = await request.formData();
		const file = form.get("image");
		if (!(file instanceof File)) return new Response(null, { status: 400 });
		const subfolder = String(form.get("subfolder") ?? "");
		uploads.set(`${subfolder}/${file.name}`, await file.bytes());
		return Response.json({ name: file.name, subfolder, type: form.get("type") });
	};

	const queue = async (request: Request): Promise<Response> => {
		const { prompt, prompt_id: id = crypto.randomUUID() } = (await request.json()) as {
			prompt: ReceivedJob["workflow"];
			prompt_id?: string;
		};
		if (behaviour.refuses !== undefined) {
			const error = { type: "prompt_outputs_failed_validation", message: "Prompt outputs failed validation", details: "" };
			const nodes = { 4: { errors: [{ type: behaviour.refuses, message: "Value not in list", details: "" }], class_type: "X" } };
			return Response.json({ error, node_errors: nodes }, { status: 400 });
		}
		jobs.push({ id, workflow: prompt });
		return Response.json({ prompt_id: behaviour.id ?? id, number: jobs.length, node_errors: {} });
	};

	const history = (id: string): Response => {
		asked.set(id, (asked.get(id) ?? 0) + 1);
		if (behaviour.forgets || isWaiting(id)) return Response.json({});
		if (behaviour.fails !== undefined) {
			const messages = [
				["execution_start", { prompt_id: id }],
				["execution_error", { prompt_id: id, node_type: behaviour.fails, exception_message: "secret words" }],
			];
			return Response.json({ [id]: { outputs: {}, status: { status_str: "error", completed: false, messages } } });
		}
		const stores = behaviour.stores ?? { 9: [{ filename: "made_1.png", type: "output" }] };
		const outputs = Object.fromEntries(
			Object.entries(stores).map(([node, images]) => [node, { images: images.map((image) => ({ subfolder: "", ...image })) }]),
		);
		return Response.json({ [id]: { outputs, status: { status_str: "success", completed: true, messages: [] } } });
	};

	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		async fetch(request) {
			const { pathname, searchParams } = new URL(request.url);
			headers.push(request.headers);
			if (behaviour.status !== undefined) return Response.json({}, { status: behaviour.status });
			const route = `${request.method} ${pathname}`;
			if (route === "POST /upload/image") return upload(request);
			if (route === "POST /prompt") return queue(request);
			if (route.startsWith("GET /history/")) return history(pathname.slice("/history/".length));
			if (route === "GET /view") {
				const known = Object.values(behaviour.stores ?? { 9: [{ filename: "made_1.png", type: "output" }] }).flat();
				const has = known.some(
					({ filename, type }) => filename === searchParams.get("filename") && type === searchParams.get("type"),
				);
				return new Response(has ? ((behaviour.picture ?? picture) as Uint8Array<ArrayBuffer>) : null, {
					status: has ? 200 : 404,
				});
			}
			if (route === "GET /queue") {
				const waiting = behaviour.forgets ? [] : jobs.filter(({ id }) => isWaiting(id)).map(({ id }, index) => [index, id, {}]);
				const isPending = behaviour.stays === "pending";
				return Response.json({ queue_running: isPending ? [] : waiting, queue_pending: isPending ? waiting : [] });
			}
			if (route === "POST /queue" || route === "POST /interrupt") {
				const body = (await request.json()) as { delete?: string[]; prompt_id?: string };
				const id = body.delete?.[0] ?? body.prompt_id ?? "";
				const how = route === "POST /queue" ? "deleted" : "interrupted";
				if (how === "interrupted" || behaviour.stays === "pending") {
					stopped.push({ how, id });
					ended.resolve();
				}
				return new Response(null);
			}
			if (route === "GET /models") return Response.json(["checkpoints"]);
			return new Response(null, { status: 404 });
		},
	});
	return {
		url: `http://127.0.0.1:${server.port}`,
		jobs,
		uploads,
		stopped,
		headers,
		behave: (next) => {
			behaviour = next;
		},
		hasStopped: () => ended.promise,
		reset() {
			for (const list of [jobs, stopped, headers]) list.length = 0;
			uploads.clear();
			asked = new Map();
			behaviour = {};
			ended = Promise.withResolvers();
		},
		stop: () => server.stop(true),
	};
}
