#if os(Linux)
    import TestSupport
    import Foundation
    import Testing

    @testable @_spi(Counterfoil) import CounterfoilClient

    /// A desktop session without a display: a message bus of its own with GNOME Keyring, and a home directory
    /// of its own.
    final class SecretServiceSession {
        struct DoesNotStart: Error {}

        /// The environment of the programs of this session.
        let environment: [String: String]
        private let home: URL
        private var bus: pid_t = 0
        private var keyring: pid_t = 0

        /// Whether to run the tests that need a session: if its programs are installed, and always in CI.
        static var isWanted: Bool {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            let programs = ["secret-tool", "dbus-daemon", "gnome-keyring-daemon"]
            return inCI || programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
        }

        /// Starts a session with an unlocked collection.
        init() async throws {
            home = FileManager.default.temporaryDirectory.appendingPathComponent("counterfoil-\(UUID().uuidString)")
            let run = home.appendingPathComponent("run")
            try FileManager.default.createDirectory(
                at: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            var environment = [
                "HOME": home.path, "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": run.path,
                "XDG_DATA_HOME": home.appendingPathComponent("data").path,
            ]
            let settings = home.appendingPathComponent("bus.conf")
            try Data(Self.busSettings(home).utf8).write(to: settings)
            let output = try OutputPipe()
            bus = try ChildProcess.spawn(
                path: "/usr/bin/dbus-daemon",
                arguments: ["--config-file=\(settings.path)", "--nofork", "--print-address=1"],
                environment: environment, streams: (nil, output.writingEnd, nil))
            let (lines, line) = AsyncStream.makeStream(of: String.self)
            Task { _ = await output.text { line.yield($0) } }
            environment["DBUS_SESSION_BUS_ADDRESS"] = await lines.first { _ in true }
            self.environment = environment
            try await startKeyring(unlocked: true)
        }

        deinit {
            for child in [keyring, bus] where child > 0 { Self.stop(child) }
            try? FileManager.default.removeItem(at: home)
        }

        /// Restarts the keyring, as after a sign-in without a password.
        func lock() async throws {
            Self.stop(keyring)
            try await startKeyring(unlocked: false)
        }

        /// Restarts the keyring, as after a sign-in with the password.
        func unlock() async throws {
            Self.stop(keyring)
            try await startKeyring(unlocked: true)
        }

        /// Ends the keyring and prevents it from being started again.
        func end() {
            Self.stop(bus)
            bus = 0
        }

        /// Returns the settings of a bus without activation: a request before the keyring is ready must not
        /// start another one.
        private static func busSettings(_ folder: URL) -> String {
            """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
             "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig>
              <type>session</type>
              <listen>unix:dir=\(folder.path)</listen>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/>
                <allow eavesdrop="true"/>
                <allow own="*"/>
              </policy>
            </busconfig>
            """
        }

        private func startKeyring(unlocked: Bool) async throws {
            let password = try OutputPipe.holding("password\n")
            defer { close(password) }
            keyring = try ChildProcess.spawn(
                path: "/usr/bin/gnome-keyring-daemon",
                arguments: ["--foreground", "--components=secrets", unlocked ? "--unlock" : "--start"],
                environment: environment, streams: (password, nil, nil))
            let service = try SecretService(environment: environment)
            let wanted = unlocked ? SecretService.Readiness.ready : .notReady("its collection is locked")
            for _ in 0..<200 {
                if await service.readiness() == wanted { return }
                try await Task.sleep(for: .milliseconds(25))
            }
            throw DoesNotStart()
        }

        private static func stop(_ child: pid_t) {
            var status: Int32 = 0
            kill(child, SIGKILL)
            waitpid(child, &status, 0)
        }
    }

    extension OutputPipe {
        /// Returns the reading end of a pipe that contains a short text.
        static func holding(_ text: String) throws -> Int32 {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { throw CannotOpen() }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            let bytes = Array(text.utf8)
            let written = write(ends[1], bytes, bytes.count)
            close(ends[1])
            guard written == bytes.count else { throw CannotOpen() }
            return ends[0]
        }
    }
#endif
