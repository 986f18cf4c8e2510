import { randomBytes } from "node:crypto";
import type { AdmittedChat } from "../../completions/admitted-chat.ts";

/** The name of the tool call that lists what was searched or read. */
const NAME = "service_web_search_documents";

/** Returns the results as a tool call that needs no answer; null if the answer has none. */
export function documentsCall({ web }: AdmittedChat): Record<string, unknown> | null {
	if (web === null || !web.asDocuments) return null;
	const documents = web.sources.map(({ title, url, content, date }) => ({ title, url, content, date }));
	return {
		id: `call_${randomBytes(16).toString("hex")}`,
		type: "function",
		function: { name: NAME, arguments: JSON.stringify({ documents }) },
	};
}
