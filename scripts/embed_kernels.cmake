# cmake -DOUT=x.c -DNAME=nn -DHEADER=x.h -DFATBIN=x.fatbin -DSOURCE=x.cu -P embed_kernels.cmake: GPU kernels as arrays in a
# C file, fw_<name>_fatbin and so on; FATBIN may be empty, then only the source is there, for NVRTC.
function(bytes_of file result)
  set(text "")
  if(file)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," text "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n"
      text "${text}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()
bytes_of("${FATBIN}" fatbin)
bytes_of("${SOURCE}" source)
set(size 0)
if(FATBIN)
  file(SIZE ${FATBIN} size)
endif()
file(WRITE ${OUT} "#include \"${HEADER}\"\n\n_Alignas(16) const unsigned char fw_${NAME}_fatbin[] = {\n${fatbin}0 };\n"
  "const unsigned long fw_${NAME}_fatbin_bytes = ${size};\nconst char fw_${NAME}_kernel_source[] = {\n${source}0 };\n")
