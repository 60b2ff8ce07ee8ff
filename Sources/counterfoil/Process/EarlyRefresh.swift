import ArgumentParser
import CounterfoilClient
import CounterfoilProtocol

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// `counterfoil refresh-early` refreshes a token that is still valid, for another command that does not wait for it.
///
/// A shell waits for the end of a command in `$(…)`. A command that needs a token therefore starts this one in a
/// session of its own, which outlives it, so that a slow server does not hold the valid token back.
struct EarlyRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh-early",
        abstract: "Refresh the token of a profile if it is about to expire; other commands start this one.",
        shouldDisplay: false)

    @OptionGroup var target: TargetOptions

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            try await common.session(of: common.profile, in: store, host: .commandLine())
                .refreshEarly(for: target.value)
        }
    }

    /// Starts the command for a profile, and waits for its end at most some time.
    ///
    /// Its arguments contain no secret. Nothing happens if it cannot be started: the next command tries again.
    static func start(
        for profile: ProfileName, _ target: AccessTarget?, in store: TokenStoreChoice?, waiting limit: Duration
    ) async {
        let arguments =
            [_commandName, "--profile=\(profile)"] + TargetOptions.arguments(for: target)
            + (store.map { ["--store=\($0.text)"] } ?? [])
        guard
            let process = try? ChildProcess(
                path: program, name: "counterfoil", arguments: arguments,
                environment: ProcessInfo.processInfo.environment, startsSession: true)
        else { return }
        // A container ends with its first process.
        guard getpid() != 1 else {
            _ = await process.exitStatus
            return
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await process.exitStatus }
            group.addTask { try? await Task.sleep(for: limit) }
            _ = await group.next()
            group.cancelAll()
        }
    }

    /// The path of this program, which works on Linux even if an upgrade has deleted the file.
    private static var program: String {
        #if os(Linux)
            "/proc/self/exe"
        #else
            Bundle.main.executablePath ?? CommandLine.arguments[0]
        #endif
    }
}

extension RefreshHost {
    /// A process that finishes the refreshes that it begins before it ends.
    static func commandLine(
        refreshElsewhere: (@Sendable (AccessTarget?, Duration) async -> Void)? = nil
    ) -> RefreshHost {
        RefreshHost(
            begin: { RefreshesInProgress.shared.begin() }, end: { RefreshesInProgress.shared.end() },
            refreshElsewhere: refreshElsewhere)
    }
}

extension TokenStoreChoice {
    /// The value of `--store` that ``init(parsing:)`` reads.
    fileprivate var text: String {
        switch self {
        case .automatic: "auto"
        case .keychain: "keychain"
        case .secretService: "secret-service"
        case .memory: "memory"
        case .file(let url): "file:\(url.path)"
        }
    }
}
