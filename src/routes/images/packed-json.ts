import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { preferredEncoding } from "../../server/respond.ts";

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);
/** Below it packing takes no time that matters. */
const SMALL_BYTES = 65_536;

/** A JSON answer, packed where the caller takes that: pictures in base64 are large, so beside the event loop. */
export async function packedJson(value: unknown, call: Call): Promise<Answer> {
	const answer = json(value);
	const text = String(answer.body);
	const encoding = text.length < SMALL_BYTES ? null : preferredEncoding(call.request.headers.get("accept-encoding"));
	if (encoding === null) return answer;
	const body =
		encoding === "br"
			? await brotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: text.length } })
			: await zip(text, { level: 1 });
	return { ...answer, body, headers: { "Content-Encoding": encoding } };
}
