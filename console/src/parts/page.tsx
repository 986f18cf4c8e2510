import { type ReactNode, useEffect } from "react";

interface PageProps {
	readonly title: string;
	readonly says?: ReactNode;
	readonly actions?: ReactNode;
	readonly children: ReactNode;
}

/** A page's heading and content. */
export function Page({ title, says, actions, children }: PageProps) {
	useEffect(() => {
		document.title = `${title} · Turnpike`;
	}, [title]);
	return (
		<div className="page-inner">
			<header className="page-head">
				<div>
					<h1>{title}</h1>
					{says === undefined ? null : <p>{says}</p>}
				</div>
				{actions === undefined ? null : <div className="page-actions">{actions}</div>}
			</header>
			{children}
		</div>
	);
}

/** A section of a page with its own heading. */
export function Section({ title, says, actions, children }: PageProps) {
	return (
		<section className="section" aria-label={title}>
			<div className="section-head">
				<div>
					<h2>{title}</h2>
					{says === undefined ? null : <p>{says}</p>}
				</div>
				{actions === undefined ? null : <div className="page-actions">{actions}</div>}
			</div>
			{children}
		</section>
	);
}

/** Figures side by side, each with its name. */
export function Figures({ children }: { readonly children: ReactNode }) {
	return <dl className="figures">{children}</dl>;
}

export function Figure({
	name,
	note,
	children,
}: {
	readonly name: string;
	readonly note?: ReactNode;
	readonly children: ReactNode;
}) {
	return (
		<div className="figure">
			<dt>{name}</dt>
			<dd>
				{children}
				{note === undefined ? null : <div className="figure-note">{note}</div>}
			</dd>
		</div>
	);
}
