import PostalMime, { type Address } from "postal-mime";
import { DocumentFault } from "../document-fault.ts";
import { MAX_ATTACHMENTS } from "../limits.ts";
import { blocks, heading, oneLine } from "../markdown.ts";
import { htmlToMarkdown } from "../markup/html-to-markdown.ts";
import { parseXml, textOf } from "../markup/markup-tree.ts";

/** Extracts the text of an attachment; "" if it has none. */
export type ReadAttachment = (bytes: Uint8Array, name: string) => Promise<string>;

/** The content of a mail, independent of its format. */
export interface MailParts {
	readonly subject: string | undefined;
	/** Names with their addresses, in display form. */
	readonly from: readonly string[];
	readonly to: readonly string[];
	readonly cc: readonly string[];
	readonly date: string;
	readonly text: string;
	readonly attachments: readonly { readonly name: string; readonly bytes: () => Uint8Array }[];
}

/** The sheet name that Excel writes into a frame page, and the page of the tabs below it. */
const SHEET_NAME = /<x:ExcelWorksheet>\s*<x:Name>([^<]*)<\/x:Name>/gi;
const IS_TAB_STRIP = /\btarget\s*=\s*["']?frSheet\b/i;
const TITLE = /<title\b[^>]*>[^<]*<\/title\s*>/i;

/** Converts a mail (RFC 5322, MIME): subject, sender, recipients, date, text, and each attachment under its name. */
export async function mailToMarkdown(bytes: Uint8Array, readAttachment: ReadAttachment): Promise<string> {
	const mail = await parseMail(bytes);
	const text = mail.text?.trim() ?? "";
	const parts: MailParts = {
		subject: mail.subject,
		from: mail.from === undefined ? [] : [addressText(mail.from)],
		to: (mail.to ?? []).map(addressText),
		cc: (mail.cc ?? []).map(addressText),
		date: mail.date ?? "",
		text: mail.html === undefined || text !== "" ? text : htmlToMarkdown(mail.html),
		attachments: mail.attachments
			// A picture that the text shows is a part of it.
			.filter(({ related, mimeType }) => related !== true || !mimeType.startsWith("image/"))
			.map(({ filename, mimeType, content }) => ({
				name: filename ?? mimeType,
				bytes: () => (typeof content === "string" ? Buffer.from(content) : new Uint8Array(content)),
			})),
	};
	return mailBlocks(parts, readAttachment);
}

/**
 * Converts the pages of a web archive (MHTML, RFC 2557), without their pictures; pages of a workbook appear under their sheets'
 * names.
 * @throws {DocumentFault}
 */
export async function webArchiveToMarkdown(bytes: Uint8Array): Promise<string> {
	const { html, text } = await parseMail(bytes);
	if (html === undefined) return text ?? "";
	const [main = "", ...others] = html.split(/(?<=<\/html\s*>\s*)(?=<)/i);
	if (!/<frameset\b/i.test(main)) return blocks([main, ...others].map(htmlToMarkdown));
	const sheets = others.filter((page) => !IS_TAB_STRIP.test(page));
	const names = [...main.matchAll(SHEET_NAME)].map(([, name = ""]) => textOf(parseXml(name)));
	return blocks(
		sheets.flatMap((page, index) => [
			names.length === sheets.length ? heading(2, names[index] ?? "") : "",
			htmlToMarkdown(page.replace(TITLE, "")),
		]),
	);
}

/** Converts a mail of any format to Markdown. */
export async function mailBlocks(mail: MailParts, readAttachment: ReadAttachment): Promise<string> {
	const read: string[] = [];
	for (const { name, bytes } of mail.attachments.slice(0, MAX_ATTACHMENTS))
		read.push(heading(2, `Attachment: ${name}`), await readAttachment(bytes(), name));
	return blocks([
		mail.subject === undefined ? "" : heading(1, mail.subject),
		[field("From", mail.from), field("To", mail.to), field("Cc", mail.cc), mail.date === "" ? "" : `Date: ${mail.date}`]
			.filter((line) => line !== "")
			.join("\n"),
		mail.text.trim().replaceAll("\r\n", "\n"),
		...read,
	]);
}

async function parseMail(bytes: Uint8Array) {
	try {
		return await PostalMime.parse(bytes, { attachmentEncoding: "arraybuffer" });
	} catch {
		throw new DocumentFault("corrupt", "The file is damaged: it cannot be read as a mail");
	}
}

function addressText(address: Address): string {
	if (address.group !== undefined || address.name === "") return oneLine(address.name || (address.address ?? ""));
	return oneLine(`${address.name} <${address.address}>`);
}

const field = (name: string, addresses: readonly string[]): string =>
	addresses.length === 0 ? "" : `${name}: ${addresses.join(", ")}`;
