import ArgumentParser
@_spi(Counterfoil) import CounterfoilClient
import CounterfoilPlatform
import CounterfoilProtocol

/// `counterfoil refresh-early` refreshes a token that is still valid, for another command that does not wait for it.
///
/// A shell waits for the end of a command in `$(…)`. A command that needs a token therefore starts this one in a
/// session of its own, which outlives it, so that a slow server does not hold the valid token back.
/// In a container, nothing outlives the first process, so the command ends only after this one.
struct EarlyRefresh: AsyncParsableCommand {
    private static let name = "refresh-early"

    static let configuration = CommandConfiguration(
        commandName: name,
        abstract: "Refresh the token of a profile if it is about to expire; other commands start this one.",
        shouldDisplay: false)

    @OptionGroup var target: TargetOptions

    @Flag(name: .customLong("id-token"), help: "Refresh if the ID token is about to expire.")
    var isForIDToken = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let console = common.console
        try await console.run {
            let store = try await common.openStore().store
            let session = common.session(of: common.profile, in: store, host: .commandLine())
            guard isForIDToken else { return try await session.refreshEarly(for: target.value) }
            let stored = try await common.storedCredentials(in: store)
            if PassedIDToken.isDue(in: stored) { _ = try await session.refreshed(replacing: stored.accessToken) }
        }
    }

    /// Starts the command for a profile, and waits for its end at most some time.
    ///
    /// In a container, ``RefreshesInProgress/finish()`` waits for its end, after the token was passed on.
    ///
    /// Its arguments contain no secret. Nothing happens if it cannot be started: the next command tries again.
    static func start(
        for profile: ProfileName, _ target: AccessTarget?, isForIDToken: Bool = false, in store: TokenStoreChoice?,
        waiting limit: Duration
    ) async {
        let arguments =
            [name, "--profile=\(profile)"] + TargetOptions.arguments(for: target)
            + (isForIDToken ? ["--id-token"] : [])
            + (store.map { ["--store=\($0.text)"] } ?? [])
        guard
            let process = try? ChildProcess(
                path: program, name: "counterfoil", arguments: arguments,
                environment: ProcessInfo.processInfo.environment, startsSession: true)
        else { return }
        let isInContainer = isInContainer
        if isInContainer { RefreshesInProgress.shared.begin() }
        let (moments, moment) = AsyncStream.makeStream(of: Void.self)
        Task {
            _ = await process.exitStatus
            if isInContainer { RefreshesInProgress.shared.end() }
            moment.yield()
        }
        Task {
            try? await Task.sleep(for: limit)
            moment.yield()
        }
        for await _ in moments { break }
    }

    /// Whether this process is in a PID namespace other than the initial one, or may be.
    ///
    /// When the first process of such a namespace ends, often a shell that waits for this process, the kernel kills all
    /// others (pid_namespaces(7)).
    private static var isInContainer: Bool {
        #if os(Linux)
            // The kernel gives the initial namespace this fixed number (PROC_PID_INIT_INO).
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) != "pid:[4026531836]"
        #else
            false
        #endif
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
