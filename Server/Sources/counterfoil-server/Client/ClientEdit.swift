import ArgumentParser
import CounterfoilProtocol
import CounterfoilSQLite
import CounterfoilServer
import CounterfoilStore
import Foundation

struct ClientEdit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Change the registration of an app.",
        discussion: """
            Only the given options change. A list replaces the whole list, and an empty value clears: --publisher "". \
            The type cannot change. An app that is vouched for or verified stays so. A service can request an added \
            scope without a user only after --machine-scope names it.

            Example:
              counterfoil-server app edit CLIENT_ID --consent-text words.md \\
                --access-token-lifetime 600 --data-dir ./data
            """
    )

    @OptionGroup var argument: ClientArgument

    @Option(name: .long, help: "The name shown to users.")
    var name: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The user who owns the app and finds it at /apps. Only administrators see it if the name is empty.",
            valueName: "user"))
    var developer: String?

    @OptionGroup(title: "Consent page") var presentation: ClientPresentationOptions
    @OptionGroup(title: "Requests") var requests: ClientRequestOptions
    @OptionGroup(title: "Tokens") var tokens: ClientTokenOptions
    @OptionGroup(title: "Policy") var policy: ClientPolicyOptions

    @Flag(name: .long, help: "Remove the logo of the app.")
    var removeLogo = false

    @OptionGroup var options: AdministrationOptions

    private var registration: ClientOptions {
        ClientOptions(presentation: presentation, requests: requests, tokens: tokens, policy: policy)
    }

    func validate() throws {
        guard !removeLogo || registration.presentation.logo == nil else {
            throw ValidationError("--logo and --remove-logo cannot be combined.")
        }
    }

    func run() async throws {
        // Not in validate(), so that the parser reports an unknown option first.
        guard name != nil || developer != nil || removeLogo || registration.hasChanges else {
            throw ValidationError("Give at least one change. See: counterfoil-server app edit --help")
        }
        let image = try logoChange()
        try await options.withInstallation(creating: false) { installation in
            let former = try await installation.client(argument.clientID)
            var draft = ClientDraft(former)
            if let name { draft.name = name }
            try registration.write(into: &draft)

            let now = installation.store.now()
            let owner = try await owner(after: former.owner, in: installation)
            let review = try await ClientReview(of: former.type, id: former.id, owner: owner, in: installation)
            // If no option changes the policy, the policy is not checked again. An expired exemption from PKCE
            // therefore does not block other changes.
            var policyDraft = PolicyDraft(former.policy)
            // If a scope is no longer registered for the client, its approval for requests without a user is dropped.
            policyDraft.machineScopes = former.policy.machineScope.tokens.map(\.rawValue).filter(draft.scopes.contains)
            registration.write(into: &policyDraft)
            let checked = try review.check(
                draft, policy: policyDraft, checksPolicy: registration.hasPolicyChanges, now: now)
            var client = former.rewritten(checked.client, byAdministrator: true, unapproved: .open, now: now)
            if let policy = checked.policy { client.policy = policy }
            client.owner = owner
            switch try await installation.clients.change(former, to: client, logo: image) {
            case .updated:
                review.warn(of: draft, policy: client.policy)
                let changed = try await installation.client(argument.clientID)
                let document = ClientDocument(
                    ClientRecord(
                        changed, developer: try await installation.developer(of: changed),
                        secrets: try await installation.store.clientSecrets(of: changed.id)))
                if options.json { return try Output.json(document) }
                Output.line(document.words)
            case .changedMeanwhile:
                throw CommandFailure.temporary("the app was changed at the same time; try again")
            case .notFound: throw CommandFailure.noClient(argument.clientID)
            case .unknownScopes(let unknown): throw CommandFailure.unknownScopes(unknown)
            }
        }
    }

    /// Returns the owner after the change: the named user, nil for an empty name, or the former owner.
    private func owner(
        after former: UserIdentifier?, in installation: Installation
    ) async throws -> UserIdentifier? {
        guard let developer else { return former }
        guard !developer.isEmpty else { return nil }
        return try await installation.user(developer).id
    }

    private func logoChange() throws -> LogoChange {
        if removeLogo || registration.presentation.logo?.isEmpty == true { return .remove }
        return try registration.presentation.logo.map { .replace(try Logo.encoded(from: $0)) } ?? .keep
    }
}
