/**
 * Pictures from a ComfyUI server. The operator's workflow is filled in with `parameters`, queued, and polled until it
 * is done. When the caller leaves or the time is up, the job is removed from the queue or interrupted.
 */
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenAnswer, upstreamOffline } from "../../failures.ts";
import { fillParameters, namedPictures, parameterValues, type Values } from "../parameters.ts";
import type { ImageAttempt, ImageForward } from "../port.ts";
import { checkPictures } from "../too-many-pictures.ts";
import { ComfyServer, type JobState, type StoredPicture } from "./comfy-server.ts";
import { readWorkflow, withInputs } from "./workflow.ts";

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;
/** After this many polls of a job, the queue is checked for it. */
const QUEUE_EACH = 4;
const MAX_SEED = 2 ** 32;

type Done = Extract<JobState, { state: "done" }>;

/** Runs one job after another until `count` pictures are made. Throws UpstreamFailure and errors of connections. */
export async function comfyImages(call: ImageForward, attempt: ImageAttempt): Promise<readonly Uint8Array[]> {
	const { target, endpoint, fetch, signal } = attempt;
	if (target.workflow === undefined) throw upstreamOffline("the model's entry names no workflow");
	const workflow = await readWorkflow(target.workflow);
	const server = new ComfyServer({ endpoint, fetch, signal, requestId: call.requestId });
	const parameters = target.parameters ?? {};
	const pictures = await uploadPictures(call, attempt, server);
	// The server does not run the same input twice, so without a caller's seed each job has its own.
	const seed = call.seed ?? randomInt(MAX_SEED);
	const results: Uint8Array[] = [];
	while (results.length < call.count) {
		const values = { ...parameterValues(call, seed + results.length), ...pictures };
		const done = await run(server, withInputs(workflow, fillParameters(parameters, values)), signal);
		const stored = chosen(done, target.output).slice(0, call.count - results.length);
		if (stored.length === 0) throw brokenAnswer("a workflow that stores no picture");
		for (const one of stored) results.push(await server.view(one));
	}
	return results;
}

/** Uploads the pictures that the workflow names. The values are their names at the server. */
async function uploadPictures(call: ImageForward, { target }: ImageAttempt, server: ComfyServer): Promise<Values> {
	const named = namedPictures(target.parameters ?? {});
	const inOrder = (["image", "image2", "image3"] as const).filter((name) => named.has(name));
	checkPictures(call, { most: target.pictures ?? inOrder.length, mask: named.has("mask") });
	const pictures = call.pictures.filter(({ role }) => role === "picture");
	const mask = call.pictures.find(({ role }) => role === "mask");
	const values: Record<string, string> = {};
	for (const [index, name] of inOrder.entries()) {
		const picture = pictures[index];
		if (picture !== undefined) values[name] = await server.upload(picture);
	}
	if (mask !== undefined) values.mask = await server.upload(mask);
	return { image: undefined, image2: undefined, image3: undefined, mask: undefined, ...values };
}

async function run(server: ComfyServer, workflow: ReturnType<typeof withInputs>, signal: AbortSignal): Promise<Done> {
	let id: string = randomUUID();
	try {
		id = await server.queue(id, workflow);
		return await waitForJob(server, id, signal);
	} catch (error) {
		if (signal.aborted) void server.stop(id);
		throw error;
	}
}

async function waitForJob(server: ComfyServer, id: string, signal: AbortSignal): Promise<Done> {
	for (let polls = 1; ; polls++) {
		const job = await server.job(id);
		if (job.state === "failed") throw brokenAnswer(`the workflow failed at ${job.node}`);
		if (job.state === "done") return job;
		if (polls % QUEUE_EACH === 0) await checkKnown(server, id);
		await sleep(Math.min(FIRST_PAUSE_MS * 1.3 ** polls, LONGEST_PAUSE_MS), undefined, { signal });
	}
}

/** Throws if the server forgot the job because it was restarted. */
async function checkKnown(server: ComfyServer, id: string): Promise<void> {
	if ((await server.placeOf(id)) !== null) return;
	// The job may have ended between the two requests.
	if ((await server.job(id)).state === "waiting") throw brokenAnswer("the server has forgotten the job");
}

/**
 * Returns the pictures of the node that the operator names. Else those stored for good, or if there are none, the
 * previews.
 */
function chosen({ stored }: Done, output: string | undefined): readonly StoredPicture[] {
	if (output !== undefined) return stored.get(output) ?? [];
	const all = [...stored.values()].flat();
	const lasting = all.filter(({ type }) => type === "output");
	return lasting.length > 0 ? lasting : all.filter(({ type }) => type === "temp");
}
