import ArgumentParser
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore

struct UnregisteredEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the policy for unregistered apps.",
        discussion: """
            Only the given options change. A list replaces the whole list, and an empty value clears: --maximum-scope \
            "" lets apps request every scope in the metadata. A change applies from the next request.

            Example:
              counterfoil-server unregistered edit --accept documents \\
                --allowed-host '*.example.com' --approvers administrators \\
                --data-dir ./data
            """
    )

    @OptionGroup var policy: UnregisteredPolicyOptions

    @OptionGroup var options: AdministrationOptions

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard policy.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server unregistered edit --help")
        }
        try await options.withInstallation { installation in
            let former = try await installation.store.unregisteredClientPolicy()
            let registry = try await UnregisteredPolicyDraft.Registry(installation.store)
            var draft = UnregisteredPolicyDraft(former, beside: registry)
            policy.write(into: &draft)
            let (changed, problems) = draft.checked(beside: registry, revision: former.revision)
            guard problems.isEmpty else {
                let texts = problems.map { problem in
                    (problem.field.map { "\($0.rawValue): " } ?? "") + Localizer.english(problem.text)
                }
                throw CommandFailure.refused(texts.joined(separator: " "))
            }
            let event = installation.event(.setting, detail: changed.difference(from: former))
            switch try await installation.store.updateUnregisteredClientPolicy(changed, recording: [event]) {
            case .updated:
                let document = UnregisteredPolicyDocument(try await installation.store.unregisteredClientPolicy())
                if options.json { return try Output.json(document) }
                Output.line(document.words)
            case .changedMeanwhile:
                throw CommandFailure.temporary("the policy was changed at the same time; try again")
            }
        }
    }
}
