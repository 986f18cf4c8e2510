import { Dialog } from "@base-ui/react/dialog";
import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { signOut } from "../api/ask-session.ts";
import { session } from "../api/session.ts";
import { sayFault } from "../parts/toasts.tsx";
import mark from "../style/mark.svg";
import { Navigation } from "./navigation.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

/** The navigation rail (on narrow screens, the bar and its drawer) around the page. */
export function Frame() {
	const [open, setOpen] = useState(false);
	const main = useRef<HTMLElement>(null);
	const path = useRouterState({ select: ({ location }) => location.pathname });
	const before = useRef(path);
	// Moves the focus to the new page's heading, so that screen reader and keyboard users do not stay at the link.
	useEffect(() => {
		if (before.current !== path) main.current?.focus({ preventScroll: true });
		before.current = path;
	}, [path]);
	return (
		<>
			<a className="skip" href="#content">
				Skip to content
			</a>
			<div className="frame">
				<aside className="rail">
					<Brand />
					<Navigation />
					<Foot />
				</aside>
				<header className="bar">
					<Dialog.Root open={open} onOpenChange={setOpen}>
						<Dialog.Trigger className="button">Menu</Dialog.Trigger>
						<Dialog.Portal>
							<Dialog.Backdrop className="shade" />
							<Dialog.Popup className="drawer">
								<Dialog.Title className="unseen">Menu</Dialog.Title>
								<Navigation onGo={() => setOpen(false)} />
								<Foot />
								<Dialog.Close className="button">Close</Dialog.Close>
							</Dialog.Popup>
						</Dialog.Portal>
					</Dialog.Root>
					<Brand />
				</header>
				<main className="page" id="content" tabIndex={-1} ref={main}>
					<Outlet />
				</main>
			</div>
		</>
	);
}

export function Brand() {
	return (
		<div className="brand">
			<img src={mark} alt="" width={22} height={22} />
			Turnpike
		</div>
	);
}

function Foot() {
	const who = useSyncExternalStore(session.subscribe, session.current);
	return (
		<div className="rail-foot">
			<ThemeSwitch />
			{who ? (
				<div className="rail-foot-row">
					<span className="break" title={`${who.key.description} (ends in ${who.key.last6Chars})`}>
						{who.account.name} <span className="mono">…{who.key.last6Chars}</span>
					</span>
					<button type="button" className="button button-small" onClick={() => signOut().catch(sayFault)}>
						Sign out
					</button>
				</div>
			) : null}
			{who ? <span>Version {who.version}</span> : null}
		</div>
	);
}
