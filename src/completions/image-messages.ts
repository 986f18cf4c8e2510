import type { TextModel } from "../catalog/types.ts";
import { arrayElements, type ByteRange, lastMember, memberSplice, objectMembers, Splice, utf8Text } from "../wire/index.ts";
import type { ChatMessage } from "./schema.ts";

/**
 * Returns the first message whose images the model gets: 0 if it takes several images. A model that takes a single
 * image gets those of the last message that has any.
 */
export function firstMessageWithImages(
	messages: readonly ChatMessage[],
	{ capabilities }: Pick<TextModel, "capabilities">,
): number {
	if (capabilities.supportsMultipleImages !== false || capabilities.supportsVision === false) return 0;
	return Math.max(0, messages.findLastIndex(hasImage));
}

function hasImage({ role, content }: ChatMessage): boolean {
	return role === "user" && Array.isArray(content) && content.some((part) => part.type === "image_url");
}

/** Returns the messages' JSON text without the images before that message; the rest stays byte for byte. */
export function withoutImagesBefore(bytes: Uint8Array, messages: ByteRange, keptFrom: number): string {
	const output = new Splice(bytes);
	let keptTo = messages.start;
	for (const element of arrayElements(bytes, messages.start).slice(0, keptFrom)) {
		const shorter = withoutImages(bytes, element);
		if (shorter === null) continue;
		output.keep(keptTo, element.start);
		output.insert(shorter);
		keptTo = element.end;
	}
	output.keep(keptTo, messages.end);
	const text = output.bytes();
	return utf8Text(text, 0, text.length);
}

/**
 * Returns the message without its images; null if it has none. A message of images only gets an empty text, so that
 * its turn stays.
 */
function withoutImages(bytes: Uint8Array, message: ByteRange): Splice | null {
	const members = objectMembers(bytes, message.start);
	const content = lastMember(members, "content");
	if (content === undefined || bytes[content.valueStart] !== 0x5b) return null;
	const parts = arrayElements(bytes, content.valueStart);
	const otherParts = parts.filter((part) => !isImage(bytes, part));
	if (otherParts.length === parts.length) return null;
	const list = new Splice(bytes);
	for (const [index, part] of otherParts.entries()) {
		list.insert(index === 0 ? "[" : ",");
		list.keep(part.start, part.end);
	}
	list.insert(otherParts.length === 0 ? '""' : "]");
	return memberSplice(bytes, members, new Map([["content", list]]), message);
}

function isImage(bytes: Uint8Array, part: ByteRange): boolean {
	const type = lastMember(objectMembers(bytes, part.start), "type");
	return type !== undefined && JSON.parse(utf8Text(bytes, type.valueStart, type.valueEnd)) === "image_url";
}
