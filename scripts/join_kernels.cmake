# cmake -DOUT=x.cu "-DPARTS=a.h;b.cu" -P join_kernels.cmake: the parts one after the other, without their #include lines.
set(text "")
foreach(part ${PARTS})
  file(READ ${part} one)
  string(REGEX REPLACE "#include \"[^\n]*\n" "" one "${one}")
  string(APPEND text "${one}")
endforeach()
file(WRITE ${OUT} "${text}")
