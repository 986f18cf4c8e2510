import { decompressRTF } from "@kenjiuno/decompressrtf";
import MsgReader, { type FieldsData } from "@kenjiuno/msgreader";
import { DocumentFault } from "../document-fault.ts";
import { htmlToMarkdown } from "../markup/html-to-markdown.ts";
import { rtfToMarkdown } from "../rtf/rtf-to-markdown.ts";
import { htmlBytesToMarkdown } from "./html-bytes.ts";
import { type MailParts, mailBlocks, type ReadAttachment } from "./mail.ts";

/**
 * Converts a mail that Outlook saved ([MS-OXMSG]), with the same result as an EML file.
 * @throws {DocumentFault}
 */
export async function outlookMailToMarkdown(bytes: Uint8Array, readAttachment: ReadAttachment): Promise<string> {
	const reader = new MsgReader(Uint8Array.from(bytes).buffer);
	const fields = reader.getFileData();
	if (fields.error !== undefined) throw new DocumentFault("corrupt", "The file is damaged: it cannot be read as a mail");
	const recipients = fields.recipients ?? [];
	const parts: MailParts = {
		subject: fields.subject,
		from: [shownAddress(fields.senderName, fields.senderSmtpAddress ?? fields.senderEmail)],
		to: recipients.filter(({ recipType }) => recipType === undefined || recipType === "to").map(recipient),
		cc: recipients.filter(({ recipType }) => recipType === "cc").map(recipient),
		date: dateOf(fields),
		text: bodyOf(fields),
		attachments: (fields.attachments ?? [])
			.filter(({ attachmentHidden }) => attachmentHidden !== true)
			.map((attachment) => ({
				name: attachment.fileName ?? attachment.fileNameShort ?? attachment.name ?? "",
				bytes: () => reader.getAttachment(attachment).content,
			})),
	};
	return mailBlocks(parts, readAttachment);
}

const recipient = ({ name, email, smtpAddress }: FieldsData): string => shownAddress(name, smtpAddress ?? email);

function shownAddress(name = "", address = ""): string {
	if (name === "" || name === address) return address;
	return address.includes("@") ? `${name} <${address}>` : name;
}

function dateOf({ clientSubmitTime, messageDeliveryTime }: FieldsData): string {
	const date = new Date(clientSubmitTime ?? messageDeliveryTime ?? "");
	return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

/** Returns the plain text; otherwise that of HTML or RTF, one of which is present. */
function bodyOf({ body, bodyHtml, html, compressedRtf }: FieldsData): string {
	if (body !== undefined && body.trim() !== "") return body;
	if (html !== undefined) return htmlBytesToMarkdown(html);
	if (bodyHtml !== undefined) return htmlToMarkdown(bodyHtml);
	return compressedRtf === undefined ? "" : rtfToMarkdown(Uint8Array.from(decompressRTF([...compressedRtf])));
}
