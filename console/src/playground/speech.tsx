import { queryOptions, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { call } from "../api/call.ts";
import { AreaField, SelectField, TextField } from "../parts/field.tsx";
import { Page, Section } from "../parts/page.tsx";
import { useSettled } from "../parts/use-settled.ts";
import { ModelField } from "./model-field.tsx";
import { Outcome } from "./outcome.tsx";
import { useRun } from "./run.ts";
import { RunButtons } from "./run-buttons.tsx";

const FORMATS = ["mp3", "opus", "aac", "flac", "wav"] as const;

/** Returns a model's voices, as the API lists them. */
const voicesOf = (model: string) =>
	queryOptions({
		queryKey: ["voices", model],
		queryFn: ({ signal }) =>
			call<{ data: { model_spec: { voices?: readonly string[] } } } | { model_spec: { voices?: readonly string[] } }>(
				`/play/models/${encodeURIComponent(model)}`,
				{ signal },
			),
		select: (answer) => ("data" in answer ? answer.data : answer).model_spec.voices ?? [],
		staleTime: 60_000,
	});

/** Speaks a text and plays it. */
export function SpeechPage(): ReactNode {
	const [input, setInput] = useState("Hello there. This is spoken by the gateway itself.");
	const [model, setModel] = useState("tts-kokoro");
	const [voice, setVoice] = useState("bf_emma");
	const [format, setFormat] = useState<(typeof FORMATS)[number]>("mp3");
	const [speed, setSpeed] = useState("1");
	const [audio, setAudio] = useState<string | null>(null);
	const { run, start, stop } = useRun();
	const voices = useQuery({ ...voicesOf(useSettled(model)), enabled: model !== "" });
	useEffect(() => () => (audio === null ? undefined : URL.revokeObjectURL(audio)), [audio]);

	const body = {
		model,
		input,
		voice,
		response_format: format,
		...(speed === "1" || speed === "" ? {} : { speed: Number(speed) }),
	};
	const send = (event: FormEvent) => {
		event.preventDefault();
		void start("/audio/speech", body, async (answer) => setAudio(URL.createObjectURL(await answer.blob())));
	};
	return (
		<Page title="Speech" says="Requests use the key that you signed in with, and the operator's account pays.">
			<div className="play">
				<form className="form" onSubmit={send}>
					<AreaField label="Text" value={input} onChange={setInput} rows={6} note={`${[...input].length} characters of 4,096`} />
					<div className="form-row">
						<ModelField type="tts" value={model} onChange={setModel} />
						<TextField label="Voice" value={voice} onChange={setVoice} choices={voices.data ?? []} />
					</div>
					<div className="form-row">
						<SelectField
							label="Format"
							value={format}
							onChange={setFormat}
							options={FORMATS.map((value) => ({ value, text: value }))}
						/>
						<TextField label="Speed" type="number" value={speed} onChange={setSpeed} range={{ min: 0.25, max: 4, step: 0.05 }} />
					</div>
					<RunButtons run={run} onStop={stop} ready={input !== ""} label="Speak" runningLabel="Speaking…" />
					<Section title="Player">
						{audio === null ? (
							<p className="quiet">Nothing was spoken yet.</p>
						) : (
							<div className="player">
								{/* biome-ignore lint/a11y/useMediaCaption: what it says stands in the field above */}
								<audio controls src={audio} aria-label="Spoken audio" />
								<a className="button" href={audio} download={`speech.${format}`}>
									Download
								</a>
							</div>
						)}
					</Section>
				</form>
				<div className="form">
					<Outcome run={run} request={{ path: "/audio/speech", json: body, answer: { saveAs: `speech.${format}` } }} />
				</div>
			</div>
		</Page>
	);
}
