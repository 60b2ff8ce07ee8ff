import CounterfoilWeb
import HTTPListener

extension DataDirectoryFiles {
    /// Whether a server runs on the directory, by its lock; nil if the system does not say.
    var isServed: Bool? {
        #if os(Linux)
            ProcessOfLock(ofFileAt: path(of: "server.lock")) != nil
        #else
            nil
        #endif
    }
}

/// The limit of open files of the process of a server.
struct DescriptorUse {
    let process: Int
    /// The number of open files; nil if the system hides it.
    ///
    /// It hides the open files of a process with a capability, also from its own user.
    let used: Int?
    /// The soft limit of open files.
    let limit: Int
    /// The maximum number of connections by the settings; nil if it is not known.
    let connections: Int?
}

extension ServerFindings {
    /// Checks the process that holds the lock of the directory: its open files against the limit of connections.
    ///
    /// - Parameter connections: The maximum number of connections by the settings; nil if it is not known.
    mutating func checkServer(_ files: DataDirectoryFiles, connections: Int?) {
        #if os(Linux)
            guard files.state(of: "server.lock") != nil else {
                return advise(
                    "not-running", "no server has run on this directory", mend: "start counterfoil-server serve")
            }
            guard let process = ProcessOfLock(ofFileAt: files.path(of: "server.lock")) else {
                return advise(
                    "not-running", "no server runs on this directory, so the checks of a running one are incomplete",
                    mend: "start counterfoil-server serve, and run this command again")
            }
            guard let limit = process.openFilesLimit else {
                return advise(
                    "process-closed", "the server runs (process \(process.identifier)), and its limits cannot be read",
                    mend: "run this command as the user of the server")
            }
            judge(
                DescriptorUse(
                    process: process.identifier, used: process.openFiles, limit: limit, connections: connections))
        #endif
    }

    mutating func judge(_ use: DescriptorUse) {
        let connections = use.connections ?? ConnectionLimits.standard.total
        let wanted = connections + ConnectionLimits.reservedDescriptors
        let count =
            use.used.map { "has \($0) files open, of at most \(use.limit)" } ?? "may have \(use.limit) files open"
        let state = "the server (process \(use.process)) \(count)"
        if let used = use.used, used * 10 > use.limit * 9 {
            fault(
                "descriptors-used", state,
                mend: "raise LimitNOFILE= in the systemd unit, or the hard limit of ulimit -n")
        } else if use.limit < wanted {
            advise(
                "descriptors-few", "\(state); \(wanted) are needed for \(connections) connections (--connections)",
                mend: "raise LimitNOFILE= in the systemd unit, or lower --connections")
        } else {
            sound("descriptors", "\(state), enough for \(connections) connections")
        }
    }
}
