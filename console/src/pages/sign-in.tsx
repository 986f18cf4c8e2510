import { useRouter } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { signIn } from "../api/ask-session.ts";
import { Brand } from "../frame/frame.tsx";
import { TextField } from "../parts/field.tsx";
import { Fault } from "../parts/loaded.tsx";
import { pageToReturnTo } from "../parts/page-to-return-to.ts";
import { useSearchTexts } from "../parts/use-search-texts.ts";

/** Accepts an ADMIN key of the operator's account, and returns to the reader's page. */
export function SignIn(): ReactNode {
	const [{ back }] = useSearchTexts("back");
	const router = useRouter();
	const [key, setKey] = useState("");
	const [busy, setBusy] = useState(false);
	const [fault, setFault] = useState<unknown>(null);
	useEffect(() => {
		document.title = "Sign in · Turnpike";
	}, []);
	const submit = async (event: FormEvent) => {
		event.preventDefault();
		setBusy(true);
		setFault(null);
		try {
			await signIn(key.trim());
			router.history.replace(pageToReturnTo(back, location.origin));
		} catch (error) {
			setFault(error);
			setBusy(false);
		}
	};
	return (
		<main className="gate" id="content">
			<div className="gate-box">
				<Brand />
				<div>
					<h1>Sign in</h1>
					{back === undefined ? null : <p className="quiet">Then you are back at the page that you came from.</p>}
				</div>
				<form className="form" onSubmit={submit}>
					<TextField
						label="ADMIN key"
						type="password"
						value={key}
						onChange={setKey}
						required
						autoComplete="current-password"
						note={
							<>
								An ADMIN key of the operator's account. The first start printed one; <code>npx --no turnpike keys create</code>{" "}
								creates another.
							</>
						}
					/>
					{fault === null ? null : <Fault error={fault} />}
					<button type="submit" className="button button-main" disabled={busy}>
						{busy ? "Please wait…" : "Sign in"}
					</button>
				</form>
			</div>
		</main>
	);
}
