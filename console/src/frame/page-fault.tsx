import { type ErrorComponentProps, Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { connection } from "../api/connection.ts";
import { Fault } from "../parts/loaded.tsx";

/** Shown for a page that failed. If the server was unreachable, the page loads by itself later. */
export function PageFault({ error, reset }: ErrorComponentProps) {
	const router = useRouter();
	useEffect(
		() =>
			connection.subscribe(() => {
				if (!connection.isUp()) return;
				reset();
				void router.invalidate();
			}),
		[router, reset],
	);
	const again = () => {
		reset();
		void router.invalidate();
	};
	return (
		<main className="page" id="content" tabIndex={-1}>
			<div className="page-inner">
				<h1>This page could not be shown</h1>
				<Fault error={error} again={again} />
			</div>
		</main>
	);
}

export function NotThere() {
	return (
		<main className="page" id="content" tabIndex={-1}>
			<div className="page-inner">
				<h1>Page not found</h1>
				<p>
					<Link to="/">Overview</Link>
				</p>
			</div>
		</main>
	);
}
