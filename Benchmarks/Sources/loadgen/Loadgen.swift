import Foundation

/// A closed-loop load generator for authorization servers: every connection waits for an answer before it asks again.
///
/// Every answer is checked; one that fails the check is an error and not an operation. Prints one JSON object.
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
