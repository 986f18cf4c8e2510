import { vectorsOf } from "./voices.ts";

/** Styles of one voice: 510 lengths of 256 numbers. */
const VOICE_BYTES = 510 * 256 * 4;

/** The voices in the package file, each read at its first use. */
export class VoiceFile {
	readonly #path: string;
	readonly #voices = new Map<string, Promise<Float32Array>>();

	constructor(path: string) {
		this.#path = path;
	}

	/**
	 * Returns the styles of a voice.
	 * @throws {Error} if the package has no such voice
	 */
	styles(voice: string): Promise<Float32Array> {
		const cachedStyles = this.#voices.get(voice);
		if (cachedStyles) return cachedStyles;
		const styles = this.#read(voice);
		this.#voices.set(voice, styles);
		styles.catch(() => this.#voices.delete(voice));
		return styles;
	}

	async #read(voice: string): Promise<Float32Array> {
		const names = vectorsOf(voice);
		const archive = new Bun.Archive(await Bun.file(this.#path).bytes());
		const vectors: Float32Array[] = [];
		for (const name of names) {
			const member = `package/voices/${name}.bin`;
			const bytes = await (await archive.files(member)).get(member)?.arrayBuffer();
			if (bytes?.byteLength !== VOICE_BYTES) throw new Error(`the package of voices has no ${name}`);
			vectors.push(new Float32Array(bytes));
		}
		const [first = new Float32Array()] = vectors;
		if (vectors.length === 1) return first;
		return first.map((_, index) => vectors.reduce((sum, vector) => sum + (vector[index] ?? 0), 0) / vectors.length);
	}
}
