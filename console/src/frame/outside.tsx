import { CSPProvider } from "@base-ui/react/csp-provider";
import { Outlet } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { connection } from "../api/connection.ts";
import { Toasts } from "../parts/toasts.tsx";

/** The frame of every page, signed in or not: the banner for an unreachable server, and messages. */
export function Outside() {
	return (
		<CSPProvider disableStyleElements>
			<ConnectionBanner />
			<Outlet />
			<Toasts />
		</CSPProvider>
	);
}

function ConnectionBanner() {
	const up = useSyncExternalStore(connection.subscribe, connection.isUp);
	return (
		<div role="status">
			{up ? null : (
				<div className="banner">
					<span>
						<strong>The server does not answer.</strong> The data on this page may be out of date. The page retries every two
						seconds.
					</span>
					<button type="button" className="button button-small" onClick={connection.askNow}>
						Retry now
					</button>
				</div>
			)}
		</div>
	);
}
