import Foundation

/// A closed-loop load generator for authorization servers: each connection sends a request after the last response.
///
/// Every response is checked. One that fails the check counts as an error and not as an operation. The
/// program prints one JSON object.
@main
struct Loadgen {
    static func main() {
        do {
            let options = try Options(arguments: Array(CommandLine.arguments.dropFirst()))
            let target = try JSONDecoder().decode(Target.self, from: Data(contentsOf: options.target))
            let report = try Measurement(options: options, target: target).run()
            FileHandle.standardOutput.write(try report.json())
            exit(report.errors == 0 ? 0 : 1)
        } catch Options.Failure.help {
            FileHandle.standardOutput.write(Data(Options.usage.utf8))
        } catch {
            FileHandle.standardError.write(Data("loadgen: \(error)\n\n\(Options.usage)".utf8))
            exit(64)
        }
    }
}
