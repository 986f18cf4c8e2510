/** The speech engine's own process. eSpeak NG (GPL-3) and the model run only here. */
import { serveParent } from "../child-side.ts";
import { parseChildInit, parseSpeechWork, type SpeechDone, type SpeechWork } from "./child-messages.ts";
import { KokoroModel } from "./kokoro-model.ts";
import { joinParts, pcmOf } from "./pcm.ts";
import { Phonemizer } from "./phonemes/phonemizer.ts";
import { VoiceFile } from "./voice-file.ts";

/** The pause between two runs of one piece that is too long for the model. */
const RUN_PAUSE_MS = 60;

interface Loaded {
	readonly model: KokoroModel;
	readonly phonemizer: Phonemizer;
	readonly voices: VoiceFile;
}

let loaded: Loaded | undefined;
let working = false;

async function speak({ model, phonemizer, voices }: Loaded, work: SpeechWork): Promise<Int16Array> {
	const styles = await voices.styles(work.voice);
	const runs = await phonemizer.phonemes(work.text, work.language);
	const parts: Int16Array[] = [];
	for (const [index, run] of runs.entries()) {
		const pauseMs = index === runs.length - 1 ? work.pauseMs : RUN_PAUSE_MS;
		parts.push(pcmOf(await model.speak(run, styles, work.speed), pauseMs));
	}
	return joinParts(parts);
}

serveParent({
	async start(message) {
		const init = parseChildInit(message);
		const [model, phonemizer] = await Promise.all([KokoroModel.load(init.modelPath, init.threads), Phonemizer.load()]);
		loaded = { model, phonemizer, voices: new VoiceFile(init.voicesPath) };
		return null;
	},
	async work(message): Promise<SpeechDone> {
		const work = parseSpeechWork(message);
		working = true;
		try {
			if (loaded === undefined) throw new Error("not started yet");
			const samples = await speak(loaded, work);
			return { id: work.id, ok: true, samples: new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength) };
		} catch (fault) {
			return { id: work.id, ok: false, fault: fault instanceof Error ? fault.message : String(fault) };
		} finally {
			working = false;
		}
	},
	busy: () => working,
});
