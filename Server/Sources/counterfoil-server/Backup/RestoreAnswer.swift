import ArgumentParser
import CounterfoilSQL
import CounterfoilServer
import CounterfoilStore
import Foundation

/// The answer to the question of a restore: what happens with that which had ended after the copy.
struct RestoreAnswer: ParsableArguments {
    @Option(
        name: .customLong("endings-journal"), parsing: .upToNextOption,
        help: ArgumentHelp(
            "The files of the endings journal since the copy. What they name ends again.", valueName: "file"))
    var journals: [String] = []

    @Flag(name: .customLong("end-sign-ins"), help: "End every session and revoke every token. Users sign in again.")
    var endsSignIns = false

    func validate() throws {
        guard journals.isEmpty || !endsSignIns else {
            throw ValidationError("--endings-journal and --end-sign-ins cannot be combined.")
        }
        guard !journals.isEmpty || endsSignIns else {
            throw ValidationError(
                "What was revoked after the copy would be valid again. Name the files of the endings journal with "
                    + "--endings-journal, or end every sign-in with --end-sign-ins.")
        }
    }

    /// Ends in a store from a copy what must not be valid in it.
    ///
    /// - Parameters:
    ///   - installation: The store, on which no server runs.
    ///   - copiedAt: The time of the copy in microseconds, if the endings journal had a mark then.
    ///   - origin: The origin of the store in the audit log.
    /// - Throws: `CommandFailure`; nothing that was refused has changed the store.
    func apply(to installation: Installation, copiedAt: Int64? = nil, origin: String) async throws {
        let restored = RestoredStore(installation.store, serverKey: installation.serverKey)
        let position = try await restored.position()
        guard !endsSignIns else {
            try await restored.endSignIns()
            let event = installation.event(.setting, detail: "restored \(origin); ended every sign-in")
            try await restored.finish(recording: [event], continuing: nil)
            return Output.note(
                "Ended every sign-in. Users and APIs keep their passwords and secrets of the copy, also those that were "
                    + "changed after it.")
        }
        let history: EndingsHistory
        let known = try await restored.knownEndings()
        do {
            history = try EndingsHistory(ofFilesAt: journals, after: position, knowing: known, copiedAt: copiedAt)
        } catch { throw CommandFailure.refused("\(error)") }
        for file in history.cutFiles {
            Output.note(
                "The last line of \(file) is cut off and was left out. In the server's own file, it was confirmed to no "
                    + "one. If this is a copy of that file, the line may have been confirmed: fetch the whole file, and "
                    + "start the restore over with it.")
        }
        let report = try await restored.apply(history)
        let until = Moment.text(Date(timeIntervalSince1970: Double(history.knownUntil) / 1_000_000))
        let event = installation.event(
            .setting, detail: "restored \(origin); \(report.endings) endings until \(until)")
        try await restored.finish(recording: [event], continuing: history.end)
        Output.note(
            "Ended again what had ended since the copy: \(report.endings). The journal knows every ending until \(until)."
        )
        report.show()
    }

    /// The steps that are left to the operator.
    var remaining: String {
        let journal =
            endsSignIns
            ? "Move the files of the former endings journal away: the server does not continue it. Then start the server"
            : "Start the server with the same endings journal, which it continues, or with a new one"
        return "The restore is complete. \(journal), run doctor, and make a backup."
    }

}

extension RestoreReport {
    /// Shows what the operator has to look at.
    func show() {
        func list(_ names: [String], _ meaning: String) {
            guard !names.isEmpty else { return }
            Output.note(meaning + "\n  " + names.joined(separator: "\n  "))
        }
        list(
            withoutPassword,
            "The password of these users was changed or removed after the copy, so they have none now. Set a new one with "
                + "\"user password\":")
        list(
            withoutSecondFactor,
            "These users set up or replaced their second factor after the copy, so they cannot sign in with the password. "
                + "Remove it with \"user reset-second-factor\":")
        list(
            withoutWayIn,
            "Passkeys or identities were deleted after the copy, and these users have no password, no passkey and no "
                + "identity elsewhere now. Set a password with \"user password\":")
        list(disabled, "These users were disabled after the copy:")
        list(
            demoted,
            "These users lost a role, or got another one, after the copy, and have none now. Give it back with "
                + "\"user edit NAME --role ROLE\" if needed:")
        list(
            keptOwners,
            "These users were deleted after the copy. As the last owners they are only disabled:")
        list(suspendedClients, "These apps were suspended after the copy, and are so again. See \"app resume\":")
        list(
            changedClients,
            "These apps were changed after the copy and are registered as before. Compare them with \"app show\":")
        list(
            changedAPIs,
            "These APIs were changed after the copy and are registered as before. Compare them with \"resource list\":")
        if hasFormerPolicy {
            Output.note(
                "The policy for unregistered apps was changed after the copy and is as before. Compare it with "
                    + "\"unregistered show\".")
        }
    }
}
