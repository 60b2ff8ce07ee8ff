import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// Skips the test with a reason if Chromium is missing; in CI the test runs and fails instead.
    static var realBrowser: Self {
        .enabled("chromedriver or chromium is not installed (Debian: apt-get install chromium chromium-driver)") {
            let inCI = ProcessInfo.processInfo.environment["CI"].map { !["", "0", "false"].contains($0) } ?? false
            return inCI || (ChromeDriver.executable != nil && ChromeDriver.browser != nil)
        }
    }
}
