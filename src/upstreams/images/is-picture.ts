/** Returns true if the bytes begin as PNG, JPEG, GIF, WebP, AVIF or HEIC. */
export function isPicture(bytes: Uint8Array): boolean {
	const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
	if (head.startsWith("\x89PNG\r\n\x1a\n") || head.startsWith("\xff\xd8\xff") || /^GIF8[79]a/.test(head)) return true;
	return /^RIFF.{4}WEBP/s.test(head) || /^.{4}ftyp(?:avif|avis|heic|heix|mif1)/s.test(head);
}
