import CounterfoilPlatform

/// The process of a browser; `run` starts it and waits until it ends or the task is cancelled.
///
/// A program such as `xdg-open` ends at once, and its exit status tells whether it succeeded. A browser that was
/// started directly keeps running until the user closes it. The standard streams of the process are the null
/// device, because browsers write messages to them. These messages must not be mixed with the output of this
/// program.
enum BrowserProcess {
    #if os(Linux) || os(macOS)
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            do {
                let process = try ChildProcess(path: program.path, arguments: arguments, environment: environment)
                return outcome(of: await process.exitStatus)
            } catch {
                return .failed("cannot be started")
            }
        }
    #elseif os(Windows)
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            let process = Process()
            process.executableURL = program
            process.arguments = arguments
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let (ends, end) = AsyncStream.makeStream(of: Int32.self)
            process.terminationHandler = { finished in
                end.yield(finished.terminationStatus)
                end.finish()
            }
            do { try process.run() } catch { return .failed("cannot be started") }
            return outcome(of: await ends.first { _ in true })
        }
    #else
        /// Returns a failure, because an app on iOS and similar systems cannot start other programs.
        ///
        /// On these systems, use a receiver that provides a launcher itself (``RedirectReceiver/browser``).
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            .failed("cannot be started by an app on this system")
        }
    #endif

    private static func outcome(of status: Int32?) -> BrowserLaunch {
        switch status {
        case nil, 0?: .launched
        case let status?: .failed("exited with status \(status)")
        }
    }
}
