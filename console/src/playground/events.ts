/** Yields the data of each server-sent event of an answer, until `[DONE]` (WHATWG HTML, "Server-sent events"). */
export async function* eventsOf(answer: Response): AsyncGenerator<string> {
	if (answer.body === null) return;
	let rest = "";
	for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
		// A line ends with LF or CRLF, which chunks may split; JSON contains neither unescaped.
		const events = (rest + text.replaceAll("\r", "")).split("\n\n");
		rest = events.pop() ?? "";
		for (const event of events) {
			const data = dataOf(event);
			if (data === "[DONE]") return;
			if (data !== "") yield data;
		}
	}
}

function dataOf(event: string): string {
	return event
		.split("\n")
		.flatMap((line) => (line.startsWith("data:") ? [line.slice(line.startsWith("data: ") ? 6 : 5)] : []))
		.join("\n");
}
