/**
 * Pictures from servers with OpenAI's `/images/edits` (a form) and `/images/generations` (JSON).
 * Sources: OpenAI's API reference (images, create and create edit); stable-diffusion.cpp's examples/server/api.md;
 * LocalAI's page "Image generation"; vLLM-Omni's pages "Image Edit API" and "Image Generation API".
 */
import { isRecord } from "../../schema/is-record.ts";
import { base64String, type FormField, formBody, type LongStrings, PICTURE_BOUNDS } from "../../wire/index.ts";
import { DIALECT_TABLE } from "../chat/dialects.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { isGood } from "../connect.ts";
import { errorBody } from "../error-text.ts";
import { brokenAnswer, failureOfAnswer, isErrorBody } from "../failures.ts";
import { parsedAnswer } from "../parsed-answer.ts";
import { requestHeaders } from "../request-headers.ts";
import { isPicture } from "./is-picture.ts";
import { requestedSize } from "./nearest-size.ts";
import { promptOf } from "./parameters.ts";
import { type ImageAttempt, type ImageForward, MAX_ANSWER_BYTES, MAX_PICTURE_BYTES } from "./port.ts";
import { checkPictures } from "./too-many-pictures.ts";

const MAX_ERROR_BYTES = 64 * 1024;

/** Sends requests until there are `count` pictures. Some servers make one at a time, whatever `n` is. */
export async function openAiImages(call: ImageForward, attempt: ImageAttempt): Promise<readonly Uint8Array[]> {
	checkPictures(call, { most: attempt.target.pictures ?? Number.POSITIVE_INFINITY, mask: true });
	const pictures: Uint8Array[] = [];
	while (pictures.length < call.count) {
		const more = await ask(call, attempt, call.count - pictures.length);
		pictures.push(...more.slice(0, call.count - pictures.length));
	}
	return pictures;
}

async function ask(call: ImageForward, attempt: ImageAttempt, count: number): Promise<readonly Uint8Array[]> {
	const { endpoint, fetch, signal } = attempt;
	const fields = fieldsOf(call, attempt, count);
	const isForm = call.kind !== "generate";
	const form = isForm ? formBody([...textFields(fields), ...fileFields(call)]) : null;
	const response = await fetch(`${endpoint.url}/images/${isForm ? "edits" : "generations"}`, {
		...endpoint.init,
		method: "POST",
		headers: requestHeaders(endpoint, call.requestId, "application/json", form?.type ?? "application/json"),
		body: (form?.bytes as Uint8Array<ArrayBuffer> | undefined) ?? JSON.stringify(fields),
		signal,
	});
	if (!isGood(response)) {
		const body = errorBody(await readWhole(response, MAX_ERROR_BYTES), endpoint.key);
		throw failureOfAnswer(response.status, body, response.headers.get("retry-after"));
	}
	return picturesOf(await readWhole(response, MAX_ANSWER_BYTES), response, attempt, count);
}

type Fields = Readonly<Record<string, string | number>>;

function fieldsOf(call: ImageForward, { model, target, server }: ImageAttempt, count: number): Fields {
	const fields: Record<string, string | number> = { model, prompt: promptOf(call) };
	const size = requestedSize(call.size, target.sizes);
	if (size !== null) fields.size = size;
	if (call.quality !== null) fields.quality = call.quality;
	if (count > 1) fields.n = count;
	if (call.kind === "background-remove") {
		fields.background = "transparent";
		fields.output_format = "png";
	}
	// OpenAI's current models refuse the field, and always answer in base64.
	const isOpenAi = server.dialect === DIALECT_TABLE.openai;
	if (!isOpenAi || model.startsWith("dall-e")) fields.response_format = "b64_json";
	if (server.dialect === DIALECT_TABLE.vllm) Object.assign(fields, diffusionFields(call));
	return fields;
}

/** Returns the fields that only servers of diffusion models accept. */
function diffusionFields({ negativePrompt, seed, steps, guidance }: ImageForward): Fields {
	return {
		...(negativePrompt === undefined ? {} : { negative_prompt: negativePrompt }),
		...(seed === undefined ? {} : { seed }),
		...(steps === undefined ? {} : { num_inference_steps: steps }),
		...(guidance === undefined ? {} : { guidance_scale: guidance }),
	};
}

function textFields(fields: Fields): FormField[] {
	return Object.entries(fields).map(([name, value]) => ({ name, value: String(value) }));
}

/** Returns the pictures as form fields: one as `image`, several as `image[]` in order, and a mask as `mask`. */
function fileFields({ pictures }: ImageForward): FormField[] {
	const several = pictures.filter(({ role }) => role === "picture").length > 1;
	return pictures.map(({ bytes, mediaType, role }, index) => ({
		name: role === "mask" ? "mask" : several ? "image[]" : "image",
		value: bytes,
		filename: `${role}-${index}.${mediaType.slice("image/".length)}`,
		type: mediaType,
	}));
}

/**
 * Returns the pictures of an answer, at most as many as requested.
 * @throws UpstreamFailure if one is no picture
 */
async function picturesOf(
	bytes: Uint8Array,
	{ status }: Response,
	attempt: ImageAttempt,
	count: number,
): Promise<readonly Uint8Array[]> {
	const { value, long } = await parsedAnswer(bytes, status, PICTURE_BOUNDS);
	if (!isRecord(value)) throw brokenAnswer(`status ${status}: the body is not a JSON object`, status);
	if (isErrorBody(value)) throw failureOfAnswer(200, value, null);
	const entries = Array.isArray(value.data) ? (value.data as unknown[]).slice(0, count) : [];
	if (entries.length === 0) throw brokenAnswer(`status ${status}: an answer without a picture`, status);
	return Promise.all(entries.map((entry) => pictureOf(entry, long, attempt)));
}

async function pictureOf(entry: unknown, long: LongStrings, attempt: ImageAttempt): Promise<Uint8Array> {
	const { b64_json: base64, url } = isRecord(entry) ? entry : {};
	const text = typeof base64 === "string" && base64 !== "" ? base64 : url;
	if (typeof text !== "string") throw brokenAnswer("an answer without a picture");
	const picture = /^https?:/i.test(text) ? await fetchOwn(text, attempt) : await base64String(text, long);
	if (picture === null || !isPicture(picture)) throw brokenAnswer("an answer that is not a picture");
	return picture;
}

/** Reads a picture that the server stored and named by its address. Only addresses of the same server are read. */
async function fetchOwn(address: string, { endpoint, fetch, signal }: ImageAttempt): Promise<Uint8Array> {
	const url = URL.parse(address);
	if (url === null || url.host !== new URL(endpoint.url).host) throw brokenAnswer("an answer with the address of another server");
	const own = new URL(`${url.pathname}${url.search}`, endpoint.url);
	const response = await fetch(own.href, { ...endpoint.init, headers: endpoint.probeHeaders, signal });
	if (!isGood(response)) throw brokenAnswer(`status ${response.status} where its picture should be`, response.status);
	return readWhole(response, MAX_PICTURE_BYTES);
}
