import Foundation

/// The process of a browser, observed until it ends or the waiting task is cancelled.
///
/// A launcher such as `xdg-open` ends at once, and its status says whether it succeeded. A browser that was
/// started directly keeps running. Its standard streams are discarded: browsers write to them, and standard
/// output belongs to the program that signs in.
enum BrowserProcess {
    #if os(Linux)
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            do {
                let process = try ChildProcess(path: program.path, arguments: arguments, environment: environment)
                return outcome(of: await process.exitStatus)
            } catch {
                return .failed("cannot be started")
            }
        }
    #elseif os(macOS) || os(Windows)
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
        /// An app cannot start programs on these systems.
        ///
        /// It opens the URL through a receiver of its own.
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
