import ArgumentParser
import CounterfoilClient
import Foundation

/// The options that go with every command.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The name under which the sign-in is kept; otherwise default.", valueName: "name"),
        transform: CommonOptions.profileName)
    var profile: ProfileName = .standard

    @Option(
        help: ArgumentHelp(
            "Where tokens are kept: auto, or file:PATH for an encrypted file. Otherwise $COUNTERFOIL_STORE, otherwise auto.",
            valueName: "store"))
    var store: StoreChoice?

    @Flag(help: "Write results and errors as JSON.")
    var json = false

    @Flag(help: "Tell what happens on standard error; never a code or a token.")
    var verbose = false

    var console: Console { Console(writesJSON: json, isVerbose: verbose) }

    mutating func validate() throws {
        guard store == nil, let text = ProcessInfo.processInfo.environment["COUNTERFOIL_STORE"], !text.isEmpty else {
            return
        }
        guard let choice = StoreChoice(argument: text) else {
            throw ValidationError("COUNTERFOIL_STORE is '\(text)'; it must be auto or file:PATH.")
        }
        store = choice
    }

    private static func profileName(_ text: String) throws -> ProfileName {
        guard let name = ProfileName(text) else {
            throw ValidationError("A profile is named with 1 to 64 letters, digits, - _ and .")
        }
        return name
    }

    /// The chosen store.
    func openStore() throws(Failure) -> any TokenStore {
        switch store ?? .auto {
        case .auto: return EncryptedFileTokenStore.standard()
        case .file(let url): return EncryptedFileTokenStore(file: url)
        case .secretService:
            throw Failure(.usage, "the Secret Service is not in this version; use --store auto or --store file:PATH")
        }
    }

    /// What the profile holds, as long as it can be used.
    func usableCredentials() async throws -> Credentials {
        guard let credentials = try await openStore().credentials(of: profile) else {
            throw Failure(.refused, "nobody is signed in under the profile \(profile); run: counterfoil login")
        }
        guard !credentials.isExpired() else {
            throw Failure(
                .refused,
                "the access token has expired; run counterfoil login again (a later version refreshes it by itself)")
        }
        return credentials
    }
}

/// A value of `--store`.
enum StoreChoice: Sendable, Hashable {
    case auto
    case file(URL)
    case secretService
}

extension StoreChoice: ExpressibleByArgument {
    init?(argument: String) {
        switch argument {
        case "auto": self = .auto
        case "secret-service": self = .secretService
        case let text where text.hasPrefix("file:") && text.count > 5:
            self = .file(URL(fileURLWithPath: String(text.dropFirst(5))))
        default: return nil
        }
    }
}
