import { createHash } from "node:crypto";
import { isRecord } from "../../../schema/is-record.ts";
import { formBody, type JsonBounds } from "../../../wire/index.ts";
import { readWhole } from "../../chat/whole-answer.ts";
import { cancelBody, isGood } from "../../connect.ts";
import { errorBody } from "../../error-text.ts";
import { brokenAnswer, failureOfAnswer, type UpstreamFailure, upstreamOffline } from "../../failures.ts";
import { parsedAnswer } from "../../parsed-answer.ts";
import { isPicture } from "../is-picture.ts";
import { type ImageAttempt, type InputPicture, MAX_PICTURE_BYTES } from "../port.ts";
import type { Workflow } from "./workflow.ts";

const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** The history of a job contains its workflow. */
const JSON_BOUNDS: JsonBounds = { bytes: MAX_JSON_BYTES, keys: 100_000, differentKeys: 20_000, values: 200_000 };
/** ComfyUI's ids are UUIDs, which are shorter. */
const MAX_ID_CHARACTERS = 128;
/** Maximum number of pictures read of one node; no request needs more. */
const MAX_STORED = 64;
const FOLDER = "turnpike";
/** Time limit for stopping a job after the caller has left. */
const STOP_MS = 5_000;

export interface StoredPicture {
	readonly filename: string;
	readonly subfolder: string;
	readonly type: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The state of a job. */
export type JobState =
	| { readonly state: "waiting" }
	| { readonly state: "failed"; readonly node: string }
	/** By node, what it stored. */
	| { readonly state: "done"; readonly stored: ReadonlyMap<string, readonly StoredPicture[]> };

type ComfyServerDeps = Pick<ImageAttempt, "endpoint" | "fetch" | "signal"> & { readonly requestId: string };

/** One ComfyUI server, for one request. Source: docs.comfy.org, "Server Routes". */
export class ComfyServer {
	readonly #deps: ComfyServerDeps;

	constructor(deps: ComfyServerDeps) {
		this.#deps = deps;
	}

	/** Stores a picture as an input and returns its name there. The same picture is stored once. */
	async upload({ bytes, mediaType }: InputPicture): Promise<string> {
		const name = `${createHash("sha256").update(bytes).digest("hex")}.${mediaType.slice("image/".length)}`;
		const form = formBody([
			{ name: "image", value: bytes, filename: name, type: mediaType },
			{ name: "type", value: "input" },
			{ name: "subfolder", value: FOLDER },
			{ name: "overwrite", value: "true" },
		]);
		const stored = await this.#json("/upload/image", { body: form.bytes, type: form.type });
		if (typeof stored.name !== "string") throw brokenAnswer("an upload without a name");
		return typeof stored.subfolder === "string" && stored.subfolder !== "" ? `${stored.subfolder}/${stored.name}` : stored.name;
	}

	/**
	 * Queues a job and returns its id, which is ours if the server accepts one. A refused workflow is the operator's
	 * fault, so the model is offline.
	 */
	async queue(id: string, workflow: Workflow): Promise<string> {
		const body = { prompt: workflow, prompt_id: id, client_id: id };
		const answer = await this.#json("/prompt", { body: JSON.stringify(body), type: "application/json" }, (status, refusal) =>
			status === 400 ? upstreamOffline(`the workflow is refused: ${refusalType(refusal)}`, status) : null,
		);
		if (typeof answer.prompt_id !== "string") return id;
		if (!isId(answer.prompt_id)) throw brokenAnswer("an id of a job that is none");
		return answer.prompt_id;
	}

	async job(id: string): Promise<JobState> {
		const entry = record((await this.#json(`/history/${id}`))[id]);
		const status = record(entry.status);
		if (status.status_str === "error") return { state: "failed", node: failedNode(status.messages) };
		if (entry.outputs === undefined || status.completed === false) return { state: "waiting" };
		const outputs = Object.entries(record(entry.outputs));
		return { state: "done", stored: new Map(outputs.map(([node, output]) => [node, storedOf(output)])) };
	}

	/** Returns where a job is; null if the server does not know it. */
	async placeOf(id: string): Promise<"running" | "pending" | null> {
		return placeIn(await this.#json("/queue"), id);
	}

	async view({ filename, subfolder, type }: StoredPicture): Promise<Uint8Array> {
		const response = await this.#ask(`/view?${new URLSearchParams({ filename, subfolder, type })}`);
		if (!isGood(response)) {
			cancelBody(response.body);
			throw brokenAnswer(`status ${response.status} where its picture should be`, response.status);
		}
		const picture = await readWhole(response, MAX_PICTURE_BYTES);
		if (!isPicture(picture)) throw brokenAnswer("an answer that is not a picture");
		return picture;
	}

	/** Removes a job from the queue, or interrupts it if it is running. Affects no other job and never throws. */
	async stop(id: string): Promise<void> {
		const { endpoint, fetch } = this.#deps;
		const stopper = new AbortController();
		const timer = setTimeout(() => stopper.abort(), STOP_MS);
		const own = new ComfyServer({ ...this.#deps, signal: stopper.signal });
		const post = async (path: string, body: object) => {
			const headers = { "content-type": "application/json", ...endpoint.probeHeaders };
			const init = { ...endpoint.init, method: "POST", headers, body: JSON.stringify(body), signal: stopper.signal };
			cancelBody((await fetch(`${endpoint.url}${path}`, init)).body);
		};
		try {
			await post("/queue", { delete: [id] });
			if ((await own.placeOf(id)) === "running") await post("/interrupt", { prompt_id: id });
		} catch {
			// It ends by itself, and nobody waits for it.
		} finally {
			clearTimeout(timer);
		}
	}

	async #json(
		path: string,
		posted?: PostedBody,
		own: (status: number, body: unknown) => UpstreamFailure | null = () => null,
	): Promise<Fields> {
		const response = await this.#ask(path, posted);
		const bytes = await readWhole(response, MAX_JSON_BYTES);
		if (!isGood(response)) {
			const refusal = errorBody(bytes, this.#deps.endpoint.key);
			throw own(response.status, refusal) ?? failureOfAnswer(response.status, refusal, response.headers.get("retry-after"));
		}
		return record((await parsedAnswer(bytes, response.status, JSON_BOUNDS)).value);
	}

	#ask(path: string, posted?: PostedBody): Promise<Response> {
		const { endpoint, fetch, signal, requestId } = this.#deps;
		const headers = { "accept-encoding": "identity", ...endpoint.probeHeaders, "x-request-id": requestId };
		const init = { ...endpoint.init, headers, signal };
		if (posted === undefined) return fetch(`${endpoint.url}${path}`, init);
		return fetch(`${endpoint.url}${path}`, {
			...init,
			method: "POST",
			headers: { ...headers, "content-type": posted.type },
			body: posted.body as Uint8Array<ArrayBuffer> | string,
		});
	}
}

interface PostedBody {
	readonly body: Uint8Array | string;
	readonly type: string;
}

/** Returns true for an id that is safe in a URL's path. */
function isId(id: string): boolean {
	return id.length <= MAX_ID_CHARACTERS && /^[\w-]+$/.test(id);
}

/** Returns where the job is. Entries of the queue are [number, id, workflow, ...]. */
function placeIn({ queue_running: running, queue_pending: pending }: Fields, id: string): "running" | "pending" | null {
	const has = (list: unknown) => Array.isArray(list) && list.some((entry) => Array.isArray(entry) && entry[1] === id);
	return has(running) ? "running" : has(pending) ? "pending" : null;
}

function storedOf(output: unknown): StoredPicture[] {
	const { images } = record(output);
	return (Array.isArray(images) ? images.slice(0, MAX_STORED) : []).flatMap((image) => {
		const { filename, subfolder = "", type = "output" } = record(image);
		if (typeof filename !== "string" || typeof subfolder !== "string" || typeof type !== "string") return [];
		return [{ filename, subfolder, type }];
	});
}

/**
 * Returns the type of the node that failed. `messages` are [name, details]. An error's text may quote the prompt, so it
 * is not used.
 */
function failedNode(messages: unknown): string {
	for (const message of Array.isArray(messages) ? messages : []) {
		if (!Array.isArray(message) || message[0] !== "execution_error") continue;
		const { node_type: kind } = record(message[1]);
		if (typeof kind === "string") return kind.slice(0, 100);
	}
	return "an unknown node";
}

/** Returns the types of the errors, such as `value_not_in_list`. Their texts may quote the prompt. */
function refusalType(body: unknown): string {
	const { error, node_errors: nodes } = record(body);
	const kinds = Object.values(record(nodes)).flatMap((node) => {
		const { errors } = record(node);
		return Array.isArray(errors) ? errors.map((each) => record(each).type) : [];
	});
	const named = [record(error).type, ...kinds].filter((kind) => typeof kind === "string");
	return [...new Set(named)].join(", ").slice(0, 200) || "without a reason";
}

function record(value: unknown): Fields {
	return isRecord(value) ? value : {};
}
