import CounterfoilClient
import CounterfoilPlatform

/// The home directory in which a command creates files.
enum HomeDirectory {
    /// Refuses a program that `sudo` runs as root with the home directory of the user who called it (`sudo -E`).
    ///
    /// The new files would belong to root, and the user could not use them.
    static func check(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws(Failure) {
        let home = UserDataDirectory.homeDirectory(environment)
        var facts = stat()
        guard geteuid() == 0, let caller = environment["SUDO_UID"].flatMap({ uid_t($0) }), caller != 0,
            stat(home, &facts) == 0, facts.st_uid == caller
        else { return }
        throw Failure(
            .usage,
            "sudo runs this program as root with the home directory \(home) of \(UserEntry.name(of: caller)), who could "
                + "not use the files that it creates there; run it without sudo, or use sudo -H for a sign-in of root")
    }
}
