import ArgumentParser
import CounterfoilClient
import CounterfoilPlatform

/// The option `--store`.
struct StoreOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where tokens are stored: auto, keychain, secret-service, memory, or file:PATH for an encrypted file. "
                + "(default: $COUNTERFOIL_STORE, or auto)",
            valueName: "store"),
        transform: Self.choice)
    var store: TokenStoreChoice?

    mutating func validate() throws {
        guard store == nil, let text = ProcessInfo.processInfo.environment["COUNTERFOIL_STORE"], !text.isEmpty else {
            return
        }
        do throws(TokenStoreChoice.Refusal) { store = try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("COUNTERFOIL_STORE is '\(text)'; \(error).")
        }
    }

    /// Opens the store of --store or COUNTERFOIL_STORE, or the automatically chosen one.
    func open(_ console: CommandOutput) async throws(TokenStoreError) -> OpenedTokenStore {
        let opened = try await (store ?? .automatic).open(application: .commandLine)
        console.detail("\(opened)")
        return opened
    }

    private static func choice(_ text: String) throws -> TokenStoreChoice {
        do throws(TokenStoreChoice.Refusal) { return try TokenStoreChoice(parsing: text) } catch {
            throw ValidationError("--store is '\(text)'; \(error).")
        }
    }
}
