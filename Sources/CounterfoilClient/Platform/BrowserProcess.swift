import Foundation

/// A browser's process: started with an argument vector, watched until it ends or nobody waits any more.
///
/// A launcher such as `xdg-open` ends at once and tells whether it worked; a browser that was started directly stays. Its
/// streams lead nowhere, because standard output belongs to the program that signs in, and browsers chatter.
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
        /// These systems start no programs; an application opens the address through its own receiver.
        static func run(_ program: URL, arguments: [String], environment: [String: String]) async -> BrowserLaunch {
            .failed("cannot be started by an application")
        }
    #endif

    private static func outcome(of status: Int32?) -> BrowserLaunch {
        switch status {
        case nil, 0?: .launched
        case let status?: .failed("ended with status \(status)")
        }
    }
}
