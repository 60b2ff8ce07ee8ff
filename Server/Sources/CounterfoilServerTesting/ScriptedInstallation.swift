@_spi(Counterfoil) import CounterfoilProtocol
package import CounterfoilServer
package import CounterfoilStore
import Foundation

/// A reporter of an installation that says what a test has set.
package final class ScriptedInstallation: InstallationReporter {
    /// The answers of the reporter.
    package struct Script: Sendable {
        package var settings: [ReportedSettings] = []
        package var ordersCertificate = false
        /// The state of the installation; nil if it cannot be read.
        package var state: InstallationState? = InstallationState(
            software: "SQLite 3.46.1", tables: 1, place: "/var/lib/counterfoil", size: 3 << 20, free: 1 << 20,
            backup: .never)
        package var findings: [ServerFinding] = []
        /// The findings of the checks that take long; nil if they are not there in time.
        package var slowFindings: [ServerFinding]? = []
        /// The number of checks that were started.
        package var checks = 0
        package var serverKeys: [ServerKeyState] = []
        package var export = UserRecordsExport.notFound
    }

    private let script: Mutex<Script>

    package init(_ change: (inout Script) -> Void = { _ in }) {
        var script = Script()
        change(&script)
        self.script = Mutex(script)
    }

    package func change(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

    /// The number of checks that were started.
    package var checks: Int { script.withLock { $0.checks } }

    package var settings: [ReportedSettings] { script.withLock { $0.settings } }

    package var ordersCertificate: Bool { script.withLock { $0.ordersCertificate } }

    package func state(for request: RequestContext) async throws -> InstallationState {
        guard let state = script.withLock({ $0.state }) else { throw StoreFault.unavailable("scripted") }
        return state
    }

    package func findings(for request: RequestContext) async -> [ServerFinding] { script.withLock { $0.findings } }

    package func slowFindings(for request: RequestContext) async -> [ServerFinding]? {
        script.withLock { script in
            script.checks += 1
            return script.slowFindings
        }
    }

    package func serverKeys(for request: RequestContext) async throws -> [ServerKeyState] {
        script.withLock { $0.serverKeys }
    }

    package func export(of user: UserIdentifier, for request: RequestContext) async throws -> UserRecordsExport {
        script.withLock { $0.export }
    }
}
