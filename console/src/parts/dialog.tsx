import { AlertDialog } from "@base-ui/react/alert-dialog";
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useState } from "react";
import { Fault } from "./loaded.tsx";

interface DialogProps {
	readonly title: string;
	readonly says?: ReactNode;
	readonly open: boolean;
	readonly onClose: () => void;
	readonly children: ReactNode;
}

/** A form in a dialog. Escape and a click on the backdrop close it. */
export function Dialog({ title, says, open, onClose, children }: DialogProps) {
	return (
		<Base.Root open={open} onOpenChange={(next) => (next ? undefined : onClose())}>
			<Base.Portal>
				<Base.Backdrop className="shade" />
				<Base.Popup className="dialog">
					<Base.Title>{title}</Base.Title>
					{says === undefined ? null : <Base.Description>{says}</Base.Description>}
					{children}
				</Base.Popup>
			</Base.Portal>
		</Base.Root>
	);
}

interface ConfirmProps {
	readonly title: string;
	readonly says: ReactNode;
	/** The button's label, a verb. */
	readonly verb: string;
	readonly danger?: boolean;
	readonly open: boolean;
	readonly onClose: () => void;
	/** The dialog stays open until this resolves, and shows the error if it fails. */
	readonly run: () => Promise<void>;
}

/** Asks for confirmation of an action that cannot be undone by a click. */
export function Confirm({ title, says, verb, danger = false, open, onClose, run }: ConfirmProps) {
	const [busy, setBusy] = useState(false);
	const [fault, setFault] = useState<unknown>(null);
	const close = () => {
		setFault(null);
		onClose();
	};
	const go = async () => {
		setBusy(true);
		setFault(null);
		try {
			await run();
			close();
		} catch (error) {
			setFault(error);
		} finally {
			setBusy(false);
		}
	};
	return (
		<AlertDialog.Root open={open} onOpenChange={(next) => (next || busy ? undefined : close())}>
			<AlertDialog.Portal>
				<AlertDialog.Backdrop className="shade" />
				<AlertDialog.Popup className="dialog">
					<AlertDialog.Title>{title}</AlertDialog.Title>
					<AlertDialog.Description>{says}</AlertDialog.Description>
					{fault === null ? null : <Fault error={fault} />}
					<div className="form-foot">
						<AlertDialog.Close className="button" disabled={busy}>
							Cancel
						</AlertDialog.Close>
						<button type="button" className={`button ${danger ? "button-danger" : "button-main"}`} onClick={go} disabled={busy}>
							{busy ? "Please wait…" : verb}
						</button>
					</div>
				</AlertDialog.Popup>
			</AlertDialog.Portal>
		</AlertDialog.Root>
	);
}
