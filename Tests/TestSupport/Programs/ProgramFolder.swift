import Foundation

extension Turnstile {
    /// The limit on tests that run programs: two per processor.
    ///
    /// Without it, all tests would start their servers at once and slow each other down.
    package static let programs = Turnstile(places: 2 * ProcessInfo.processInfo.activeProcessorCount)
}

extension TemporaryDirectory {
    /// Waits until this test may run programs, and runs `body` with a new directory for their files.
    package static func forPrograms<Result>(_ body: (TemporaryDirectory) async throws -> Result) async throws -> Result
    {
        let directory = try TemporaryDirectory()
        return try await Turnstile.programs.pass { try await body(directory) }
    }
}
