import PostalMime, { type Address } from "postal-mime";
import { DocumentFault } from "../document-fault.ts";
import { MAX_ATTACHMENTS } from "../limits.ts";
import { blocks, heading, oneLine } from "../markdown.ts";
import { htmlToMarkdown } from "../markup/html-to-markdown.ts";

/** Reads a file that a mail carries; "" where it has no text. */
export type ReadAttachment = (bytes: Uint8Array, name: string) => Promise<string>;

/** A mail (RFC 5322, MIME): its subject, who and when, its text, and its attachments each under its name. */
export async function mailToMarkdown(bytes: Uint8Array, readAttachment: ReadAttachment): Promise<string> {
	const mail = await parsed(bytes);
	const attachments = mail.attachments.slice(0, MAX_ATTACHMENTS);
	const read: string[] = [];
	for (const { filename, mimeType, content, related } of attachments) {
		// A picture that the text shows is a part of it.
		if (related === true && mimeType.startsWith("image/")) continue;
		const name = filename ?? mimeType;
		const file = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
		read.push(heading(2, `Attachment: ${name}`), await readAttachment(file, name));
	}
	const text = mail.text?.trim() ?? "";
	return blocks([
		mail.subject === undefined ? "" : heading(1, mail.subject),
		[
			field("From", mail.from === undefined ? [] : [mail.from]),
			field("To", mail.to ?? []),
			field("Cc", mail.cc ?? []),
			mail.date === undefined ? "" : `Date: ${mail.date}`,
		]
			.filter((line) => line !== "")
			.join("\n"),
		mail.html === undefined || text !== "" ? text.replaceAll("\r\n", "\n") : htmlToMarkdown(mail.html),
		...read,
	]);
}

async function parsed(bytes: Uint8Array) {
	try {
		return await PostalMime.parse(bytes, { attachmentEncoding: "arraybuffer" });
	} catch {
		throw new DocumentFault("corrupt", "The file is damaged: it cannot be read as a mail");
	}
}

function field(name: string, addresses: readonly Address[]): string {
	const all = addresses.map((address) =>
		address.group === undefined
			? oneLine(address.name === "" ? address.address : `${address.name} <${address.address}>`)
			: oneLine(address.name),
	);
	return all.length === 0 ? "" : `${name}: ${all.join(", ")}`;
}
