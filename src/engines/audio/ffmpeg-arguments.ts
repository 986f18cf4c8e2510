/** The arguments of ffmpeg for each format. Source: ffmpeg's documentation of its encoders and muxers. */
import type { AudioFormat, EncodeRequest } from "./port.ts";

const DEFAULT_SAMPLE_RATE = 24_000;

/** Constant rates that are sufficient for one voice; streams are sent packet by packet. */
const OUTPUT: Readonly<Record<AudioFormat, readonly string[]>> = {
	mp3: ["-c:a", "libmp3lame", "-b:a", "96k", "-id3v2_version", "0", "-f", "mp3"],
	// Pages of 200 ms: with the usual second a stream would begin late.
	opus: ["-c:a", "libopus", "-b:a", "48k", "-page_duration", "200000", "-f", "ogg"],
	aac: ["-c:a", "aac", "-b:a", "96k", "-f", "adts"],
	flac: ["-c:a", "flac", "-sample_fmt", "s16", "-f", "flac"],
	wav: ["-c:a", "pcm_s16le", "-f", "wav"],
	pcm: ["-c:a", "pcm_s16le", "-f", "s16le"],
};

/** Raw samples need no probing: ffmpeg 5 would read seconds of them first, so that a stream begins late or never. */
const RAW_INPUT = ["-probesize", "32", "-analyzeduration", "0", "-f", "s16le"];

/** One filter changes the tempo by 0.5 to 2 in every version of the program. */
export function tempoFilters(tempo: number): string[] {
	const filters: string[] = [];
	let rest = tempo;
	for (; rest > 2; rest /= 2) filters.push("atempo=2");
	for (; rest < 0.5; rest *= 2) filters.push("atempo=0.5");
	if (Math.abs(rest - 1) > 1e-9) filters.push(`atempo=${rest.toFixed(6)}`);
	return filters;
}

/**
 * Returns the arguments for a request.
 * @param to a path, or null for standard output, where no header can be corrected at the end
 */
export function ffmpegArguments(request: EncodeRequest, to: string | null): string[] {
	const { input, format, tempo = 1, sampleRate = DEFAULT_SAMPLE_RATE } = request;
	const filters = tempoFilters(tempo);
	const rate = format === "opus" ? 48_000 : sampleRate;
	return [
		...["-hide_banner", "-loglevel", "error", "-nostdin", "-y"],
		// An input file must not make the program open other files or addresses.
		...["-protocol_whitelist", "pipe"],
		...(input.kind === "pcm" ? [...RAW_INPUT, "-ar", String(input.sampleRate), "-ac", "1"] : []),
		...["-i", "pipe:0"],
		...["-vn", "-sn", "-dn", "-map_metadata", "-1", "-map_chapters", "-1"],
		...(filters.length > 0 ? ["-af", filters.join(",")] : []),
		...["-ac", "1", "-ar", String(rate)],
		...["-fflags", "+bitexact", "-flags:a", "+bitexact", "-threads", "1"],
		...OUTPUT[format],
		...(to === null && format === "mp3" ? ["-write_xing", "0"] : []),
		...(to === null ? ["-flush_packets", "1", "pipe:1"] : [`file:${to}`]),
	];
}
