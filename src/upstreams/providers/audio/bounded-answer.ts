import { brokenAnswer } from "../../failures.ts";

/** Returns the answer, which fails beyond `maxBytes`, because packages read answers whole. */
export function boundedAnswer(response: Response, maxBytes: number): Response {
	if (response.body === null) return response;
	let length = 0;
	const counted = response.body.pipeThrough(
		new TransformStream<Uint8Array, Uint8Array>({
			transform(piece, controller) {
				length += piece.length;
				if (length > maxBytes) controller.error(brokenAnswer(`an answer of more than ${maxBytes} bytes`, response.status));
				else controller.enqueue(piece);
			},
		}),
	);
	return new Response(counted, { status: response.status, statusText: response.statusText, headers: response.headers });
}
