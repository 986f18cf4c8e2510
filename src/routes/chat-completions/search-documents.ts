import { randomBytes } from "node:crypto";
import type { ChatSession } from "../../completions/session.ts";

/** Under this name an answer tells what was searched or read, as a call of a tool. */
const NAME = "service_web_search_documents";

/** What was found, as a call of a tool that nobody has to answer; null where the answer brings none. */
export function documentsCall({ web }: ChatSession): Record<string, unknown> | null {
	if (web === null || !web.asDocuments) return null;
	const documents = web.sources.map(({ title, url, content, date }) => ({ title, url, content, date }));
	return {
		id: `call_${randomBytes(16).toString("hex")}`,
		type: "function",
		function: { name: NAME, arguments: JSON.stringify({ documents }) },
	};
}
