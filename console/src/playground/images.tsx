import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { AreaField, Check } from "../parts/field.tsx";
import { Page, Section } from "../parts/page.tsx";
import { DropZone } from "./drop-zone.tsx";
import { ModelField } from "./model-field.tsx";
import { Outcome } from "./outcome.tsx";
import { useRun } from "./run.ts";
import { RunButtons } from "./run-buttons.tsx";

/** Returns a file's object URL while it is shown. */
function useObjectUrl(blob: Blob | null): string | null {
	const [url, setUrl] = useState<string | null>(null);
	useEffect(() => {
		if (blob === null) return setUrl(null);
		const objectUrl = URL.createObjectURL(blob);
		setUrl(objectUrl);
		return () => URL.revokeObjectURL(objectUrl);
	}, [blob]);
	return url;
}

/** Edits an image, and shows it before and after. */
export function ImagesPage(): ReactNode {
	const [file, setFile] = useState<File | null>(null);
	const [edited, setEdited] = useState<Blob | null>(null);
	const [model, setModel] = useState("local-edit");
	const [prompt, setPrompt] = useState("crop to a square, resize to 512x512, grayscale");
	const [safe, setSafe] = useState(true);
	const { run, start, stop } = useRun();
	const before = useObjectUrl(file);
	const after = useObjectUrl(edited);
	const choose = (next: File) => {
		setFile(next);
		setEdited(null);
	};
	const send = (event: FormEvent) => {
		event.preventDefault();
		if (file === null) return;
		const body = new FormData();
		body.set("model", model);
		body.set("prompt", prompt);
		if (!safe) body.set("safe_mode", "false");
		body.set("image", file);
		void start("/image/edit", body, async (answer) => setEdited(await answer.blob()));
	};
	return (
		<Page title="Image edit" says="Requests use the key that you signed in with, and the operator's account pays.">
			<div className="play">
				<form className="form" onSubmit={send}>
					<DropZone
						label="Picture"
						note="Drop a JPEG, PNG, WebP, GIF, AVIF or TIFF here, less than 25 MiB"
						accept="image/*"
						file={file}
						onFile={choose}
					/>
					<AreaField label="Prompt" value={prompt} onChange={setPrompt} rows={3} />
					<ModelField type="inpaint" value={model} onChange={setModel} />
					<Check label="Safe mode: blur adult content" value={safe} onChange={setSafe} />
					<RunButtons run={run} onStop={stop} ready={file !== null} label="Edit" runningLabel="Editing…" />
					<Section title="Before and after">
						<div className="pictures">
							<Picture src={before} name="Before" none="No picture yet" />
							<Picture src={after} name="After" none={run.state === "running" ? "Editing…" : "Not edited yet"} />
						</div>
						{after === null ? null : (
							<div>
								<a className="button" href={after} download={`edited.${edited?.type.split("/")[1] ?? "png"}`}>
									Download
								</a>
							</div>
						)}
					</Section>
				</form>
				<div className="form">
					<Outcome
						run={run}
						request={{
							path: "/image/edit",
							form: { model, prompt, ...(safe ? {} : { safe_mode: "false" }) },
							file: { field: "image", name: file?.name ?? "photo.jpg" },
							answer: { saveAs: "edited.png" },
						}}
					/>
				</div>
			</div>
		</Page>
	);
}

function Picture({ src, name, none }: { readonly src: string | null; readonly name: string; readonly none: string }) {
	const [size, setSize] = useState("");
	return (
		<figure className="picture">
			{src === null ? (
				<div className="picture-none">{none}</div>
			) : (
				<img
					src={src}
					alt={name}
					onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setSize(`${naturalWidth} × ${naturalHeight}`)}
				/>
			)}
			<figcaption>
				{name} <span className="quiet">{src === null ? "" : size}</span>
			</figcaption>
		</figure>
	);
}
